/// A request of a client to a database.
///
/// `Protocol/README.md`, section 5, defines each operation.
package enum Operation: Hashable, Sendable {
    case modifyRecords(ModifyRecords)
    case fetchRecords(FetchRecords)
    case modifyZones(ModifyZones)
    case fetchZones(FetchZones)
    case queryRecords(QueryRecords)
    case checkSchema(CheckSchema)
    case fetchChanges(FetchChanges)
    case fetchDatabaseChanges(FetchDatabaseChanges)
    case fetchToken(FetchToken)
    case modifySubscriptions(ModifySubscriptions)
    case fetchSubscriptions(FetchSubscriptions)
    /// Asks for the notifications of the user's subscriptions in the environment, for the life of
    /// the connection.
    case listen
    case uploadAssets(UploadAssets)
    case downloadAssets(DownloadAssets)
    case acceptShares(AcceptShares)
    case fetchShareMetadata(FetchShareMetadata)
    case fetchShareParticipants(FetchShareParticipants)
    case requestShareAccess(RequestShareAccess)
    case explainRecord(ExplainRecord)

    /// Whether the operation changes data, and needs a request ID.
    package var isMutating: Bool {
        switch self {
        case .modifyRecords, .modifyZones, .modifySubscriptions, .acceptShares, .requestShareAccess: true
        case .fetchRecords, .fetchZones, .queryRecords, .checkSchema, .fetchChanges, .fetchDatabaseChanges,
            .fetchToken, .fetchSubscriptions, .listen, .uploadAssets, .downloadAssets, .fetchShareMetadata,
            .fetchShareParticipants, .explainRecord:
            false
        }
    }

    /// Whether the server stores something for the operation: a read-only key does not permit it
    /// then.
    ///
    /// Bytes of assets are no change that others see, but they take space.
    package var storesAnything: Bool {
        if case .uploadAssets = self { return true }
        return self.isMutating
    }

    /// Number of items in the request: saves and deletes, or IDs.
    package var itemCount: Int {
        switch self {
        case .modifyRecords(let modify): modify.saves.count + modify.deletes.count
        case .fetchRecords(let fetch): fetch.ids.count
        case .modifyZones(let modify): modify.saves.count + modify.deletes.count
        case .fetchZones(let fetch):
            switch fetch.selection {
            case .all: 0
            case .ids(let ids): ids.count
            }
        case .modifySubscriptions(let modify): modify.saves.count + modify.deletes.count
        case .fetchSubscriptions(let fetch):
            switch fetch.selection {
            case .all: 0
            case .ids(let ids): ids.count
            }
        case .uploadAssets(let upload): upload.assets.count
        case .downloadAssets(let download): download.ranges.count
        case .acceptShares(let accept): accept.tokens.count
        case .fetchShareMetadata(let fetch): fetch.tokens.count
        case .fetchShareParticipants(let fetch): fetch.lookups.count
        case .requestShareAccess(let request): request.tokens.count
        case .explainRecord: 1
        case .queryRecords, .checkSchema, .fetchChanges, .fetchDatabaseChanges, .fetchToken, .listen: 0
        }
    }
}

/// Saves and deletes records.
///
/// Items are numbered: saves first, then deletes, from 0.
package struct ModifyRecords: Hashable, Sendable {
    package enum Policy: UInt8, Hashable, Sendable {
        case ifServerRecordUnchanged = 0
        case changedKeys = 1
        case allKeys = 2
    }

    package var scope: DatabaseScope
    package var saves: [RecordSave]
    package var deletes: [RecordID]
    package var policy: Policy
    /// Whether the items of each zone with the capability succeed or fail together.
    package var isAtomic: Bool
    /// Stored with each zone that the request changes, at most `Bounds.clientTokenBytesMax`.
    ///
    /// Empty to leave the stored token unchanged.
    package var clientToken: [UInt8]
    /// The tag that a deleted record must have, by its offset in `deletes`; a delete without one is
    /// not compared.
    ///
    /// Not on the wire: only CloudKit Web Services compare deletes.
    package var deleteTags: [Int: String] = [:]

    package init(
        scope: DatabaseScope,
        saves: [RecordSave],
        deletes: [RecordID] = [],
        policy: Policy = .ifServerRecordUnchanged,
        isAtomic: Bool = true,
        clientToken: [UInt8] = []
    ) {
        self.scope = scope
        self.saves = saves
        self.deletes = deletes
        self.policy = policy
        self.isAtomic = isAtomic
        self.clientToken = clientToken
    }
}

/// One save of a record.
package struct RecordSave: Hashable, Sendable {
    package enum ParentChange: Hashable, Sendable {
        case unchanged
        case removed
        case set(recordName: String)
    }

    package var id: RecordID
    package var recordType: String
    /// `nil` if the record should be new.
    package var changeTag: String?
    /// The fields to write, with `clear` for those to remove.
    ///
    /// Empty if `changesError` is set.
    package var changes: RecordBody
    /// The fault of the client's fields; `nil` if there is none.
    ///
    /// The item fails with it, not the request.
    package var changesError: BodyError?
    package var parent: ParentChange
    /// The change of the participants, if the record is a share.
    package var share = ShareSave.none
    /// Replaces the policy of the request for this item; `nil` leaves it.
    ///
    /// Not on the wire: only CloudKit Web Services mix policies.
    package var policy: ModifyRecords.Policy?
    /// Whether fields of the stored record that the save does not have are removed.
    ///
    /// Not on the wire, as `policy`.
    package var replacesFields = false

    package init(
        id: RecordID,
        recordType: String,
        changeTag: String? = nil,
        changes: RecordBody,
        changesError: BodyError? = nil,
        parent: ParentChange = .unchanged
    ) {
        self.id = id
        self.recordType = recordType
        self.changeTag = changeTag
        self.changes = changes
        self.changesError = changesError
        self.parent = parent
    }
}

/// Fetches records by ID.
///
/// Items are numbered as `ids`.
package struct FetchRecords: Hashable, Sendable {
    package var scope: DatabaseScope
    package var ids: [RecordID]
    /// `nil` for all fields; an empty list for none.
    package var desiredKeys: [String]?

    package init(scope: DatabaseScope, ids: [RecordID], desiredKeys: [String]? = nil) {
        self.scope = scope
        self.ids = ids
        self.desiredKeys = desiredKeys
    }
}

/// Creates and deletes zones.
///
/// Items are numbered: saves first, then deletes.
package struct ModifyZones: Hashable, Sendable {
    package var scope: DatabaseScope
    package var saves: [ZoneSave]
    package var deletes: [ZoneID]

    package init(scope: DatabaseScope, zoneSaves: [ZoneSave], deletes: [ZoneID] = []) {
        self.scope = scope
        self.saves = zoneSaves
        self.deletes = deletes
    }

    /// Saves zones in which each record has a key of its own.
    package init(scope: DatabaseScope, saves: [ZoneID], deletes: [ZoneID] = []) {
        self.init(scope: scope, zoneSaves: saves.map { ZoneSave(id: $0) }, deletes: deletes)
    }
}

/// A zone to create, unless it exists.
package struct ZoneSave: Hashable, Sendable {
    package var id: ZoneID
    /// Must match that of an existing zone.
    package var encryptionScope: EncryptionScope

    package init(id: ZoneID, encryptionScope: EncryptionScope = .perRecord) {
        self.id = id
        self.encryptionScope = encryptionScope
    }
}

/// Fetches zones.
package struct FetchZones: Hashable, Sendable {
    package enum Selection: Hashable, Sendable {
        case all
        case ids([ZoneID])
    }

    package var scope: DatabaseScope
    package var selection: Selection

    package init(scope: DatabaseScope, selection: Selection) {
        self.scope = scope
        self.selection = selection
    }
}

/// Checks whether the environment has everything that a client was built for.
package struct CheckSchema: Hashable, Sendable {
    /// In the CloudKit Schema Language.
    package var schema: String

    package init(schema: String) {
        self.schema = schema
    }
}
