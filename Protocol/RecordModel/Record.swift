/// A record as stored on the server.
package struct Record: Hashable, Sendable {
    package var id: RecordID
    package var recordType: String
    /// Changes with every successful write.
    ///
    /// Compared for equality only.
    package var changeTag: String
    package var system: SystemFields
    /// Record name of the parent, in the same zone.
    package var parent: String?
    package var body: RecordBody

    @inlinable
    package init(
        id: RecordID,
        recordType: String,
        changeTag: String,
        system: SystemFields,
        parent: String? = nil,
        body: RecordBody
    ) {
        self.id = id
        self.recordType = recordType
        self.changeTag = changeTag
        self.system = system
        self.parent = parent
        self.body = body
    }
}

/// The creation and last modification of a record.
///
/// The server sets them, with its clock in milliseconds since 1970.
package struct SystemFields: Hashable, Sendable {
    package var createdMilliseconds: Int64
    package var modifiedMilliseconds: Int64
    /// User record names; empty if the user was not signed in.
    package var createdBy: String
    package var modifiedBy: String

    package init(
        createdMilliseconds: Int64,
        modifiedMilliseconds: Int64,
        createdBy: String,
        modifiedBy: String
    ) {
        self.createdMilliseconds = createdMilliseconds
        self.modifiedMilliseconds = modifiedMilliseconds
        self.createdBy = createdBy
        self.modifiedBy = modifiedBy
    }
}

/// A zone as stored on the server.
package struct Zone: Hashable, Sendable {
    package var id: ZoneID
    package var capabilities: ZoneCapabilities
    /// Record name of the zone's share, or `nil` if the zone is not shared.
    package var share: String?
    package var encryptionScope: EncryptionScope

    package init(
        id: ZoneID,
        capabilities: ZoneCapabilities,
        share: String? = nil,
        encryptionScope: EncryptionScope = .perRecord
    ) {
        self.id = id
        self.capabilities = capabilities
        self.share = share
        self.encryptionScope = encryptionScope
    }
}

/// The scope of a key for encrypted values, fixed when a zone is created.
package enum EncryptionScope: UInt8, Hashable, Sendable {
    case perRecord = 0
    /// Such a zone is shared as a whole only.
    case perZone = 1
}
