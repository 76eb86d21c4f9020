public import Foundation
internal import RecordModel

/// Somebody, as far as the one who asks may know him.
///
/// Equality and hash are by value.
open class CKUserIdentity: NSObject, NSSecureCoding, NSCopying {
    /// By what somebody is looked for.
    public typealias LookupInfo = CKUserIdentityLookupInfo

    let model: UserIdentity

    init(_ model: UserIdentity) {
        self.model = model
        super.init()
    }

    /// The ID of his user record, with its real name also for the current user; `nil`: nobody knows who it is.
    open var userRecordID: CKRecord.ID? {
        self.model.userRecordName.isEmpty ? nil : CKRecord.ID(recordName: self.model.userRecordName)
    }

    /// What he was found or invited by; `nil`: nothing.
    open var lookupInfo: LookupInfo? { self.model.lookup.map { CKUserIdentityLookupInfo($0) } }

    /// His name: `nil`, as servers know users by their records only.
    open var nameComponents: PersonNameComponents? { nil }

    /// Whether the server has a user for whom it stands.
    open var hasiCloudAccount: Bool { !self.model.userRecordName.isEmpty }

    /// Entries of the address book: none, as there is no address book here.
    @available(*, deprecated, message: "There are no contacts here.")
    open var contactIdentifiers: [String] { [] }

    /// Reads an archived identity; `nil` when the archive has none.
    public required init?(coder: NSCoder) {
        let bytes = coder.archivedBody()?.bytes("identity")
        let identity = bytes.map { try? UserIdentity(decoding: $0) } ?? UserIdentity(apple: coder)
        guard let model = identity else { return nil }
        self.model = model
        super.init()
    }

    /// Writes the identity into an archive, in one encoding for one content.
    open func encode(with coder: NSCoder) {
        coder.encodeBody([Field("identity", .bytes(self.model.bytes))])
    }

    /// Whether identities may be read where secure coding is required: always.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the identity itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is the same identity.
    open override func isEqual(_ object: Any?) -> Bool { (object as? CKUserIdentity)?.model == self.model }

    /// Agrees with `isEqual`.
    open override var hash: Int { self.model.hashValue }

    /// The identity for people to read.
    open override var description: String { "<CKUserIdentity: \(self.model)>" }
}

// SAFETY: every stored property is a constant value.
extension CKUserIdentity: @unchecked Sendable {}
