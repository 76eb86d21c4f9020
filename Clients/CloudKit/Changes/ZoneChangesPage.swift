internal import RecordModel
internal import WireProtocol

/// A page of the changes of a zone.
struct ZoneChangesPage: FeedPage {
    typealias ItemID = CKRecord.ID
    typealias Value = Change

    enum Change: Sendable {
        case saved(CKRecord)
        case deleted(CKRecord.RecordType)
    }

    let zoneID: CKRecordZone.ID
    private(set) var token: [UInt8]
    private let scope: DatabaseScopeModel
    private let desiredKeys: [CKRecord.FieldKey]?
    private let limit: Int?
    private let order: FetchChanges.SnapshotOrder
    private let reader: Ledgers.Reader
    private var isReturn = true
    private let objects = PageObjects()

    /// Makes a page in `order`; without a token it is the first, and with a limit of `nil`, 0 or
    /// less the server decides.
    init(
        _ zoneID: CKRecordZone.ID,
        since token: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        limit: Int? = nil,
        order: FetchChanges.SnapshotOrder = .creation,
        reader: Ledgers.Reader = .app,
        scope: DatabaseScopeModel
    ) {
        self.zoneID = zoneID
        self.token = token?.bytes ?? []
        self.desiredKeys = desiredKeys
        self.limit = limit
        self.order = order
        self.reader = reader
        self.scope = scope
    }

    func following(_ token: CKServerChangeToken) -> ZoneChangesPage {
        var page = self
        page.token = token.bytes
        page.isReturn = false
        return page
    }

    var roles: RequestRoles<Self> {
        let records = RecordRole<Change>(
            record: { if case .saved(let record) = $0 { record } else { nil } },
            value: { .saved($0) },
            completion: .files(AssetSource(scope: self.scope, desiredKeys: self.desiredKeys))
        )
        let ledger = LedgerRole<Self>(
            use: .page(
                scope: self.scope,
                zone: self.zoneID.model,
                token: self.token,
                isReturn: self.isReturn,
                self.reader
            ),
            note: { Self.note(of: $0) },
            lost: { [zoneID] name, type in
                .value(CKRecord.ID(recordName: name, zoneID: zoneID), .success(.deleted(type)))
            }
        )
        return RequestRoles(
            subject: ErrorSubject(zone: self.zoneID, scope: self.scope),
            records: records,
            ledger: ledger
        )
    }

    private static func note(of itemResult: ItemResult) -> LedgerNote? {
        guard case .value(let id, let result) = itemResult else { return nil }
        return switch result {
        case .success(.saved(let record)): LedgerNote(name: id.recordName, type: record.recordType)
        case .success(.deleted): LedgerNote(name: id.recordName)
        // The server has it, so it has not vanished.
        case .failure(let error):
            (error as? CKError)?.damagedRecordType.map { LedgerNote(name: id.recordName, type: $0) }
        }
    }

    func operation(user: String) throws(CKError) -> RequestModel {
        .fetchChanges(
            FetchChanges(
                scope: self.scope,
                zone: self.zoneID.model,
                token: self.token,
                desiredKeys: ShareKeys.asked(self.desiredKeys),
                limit: Self.limit(self.limit),
                order: self.order
            )
        )
    }

    func result(of item: Item, user: String) throws(WireError) -> ItemResult? {
        switch item.outcome {
        case .record(let message):
            let (id, result) = try self.objects.record(message, user: user)
            return .value(id, result.map(Change.saved))
        case .recordDeleted(let deleted):
            return .value(self.objects.recordID(deleted.id), .success(.deleted(deleted.recordType)))
        default: return nil
        }
    }
}
