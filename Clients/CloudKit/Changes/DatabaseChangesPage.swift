internal import RecordModel
internal import WireProtocol

/// A page of the changes of a database.
struct DatabaseChangesPage: FeedPage {
    typealias ItemID = CKRecordZone.ID
    typealias Value = Change

    enum Change: Hashable, Sendable {
        case changed
        case deleted
    }

    private(set) var token: [UInt8]
    private let scope: DatabaseScopeModel
    private let limit: Int?
    private let reader: Ledgers.Reader
    private var isReturn = true

    /// Makes a page; without a token it is the first, and with a limit of `nil`, 0 or less the
    /// server decides.
    init(
        since token: CKServerChangeToken?,
        limit: Int?,
        reader: Ledgers.Reader = .app,
        scope: DatabaseScopeModel
    ) {
        self.token = token?.bytes ?? []
        self.limit = limit
        self.reader = reader
        self.scope = scope
    }

    func following(_ token: CKServerChangeToken) -> DatabaseChangesPage {
        var page = self
        page.token = token.bytes
        page.isReturn = false
        return page
    }

    var roles: RequestRoles<Self> {
        // A sync engine keeps its zones itself.
        guard self.reader == .app else { return RequestRoles() }
        let ledger = LedgerRole<Self>(
            use: .page(scope: self.scope, zone: nil, token: self.token, isReturn: self.isReturn, .app),
            note: { Self.note(of: $0) },
            lost: { name, type in
                let zoneName = name.prefix { $0 != "\n" }
                let id = CKRecordZone.ID(zoneName: String(zoneName), ownerName: type)
                return .value(id, .success(.deleted))
            }
        )
        return RequestRoles(ledger: ledger)
    }

    // The ledger lists a zone by its name, with its owner instead of a type.
    private static func note(of itemResult: ItemResult) -> LedgerNote? {
        guard case .value(let id, .success(let change)) = itemResult else { return nil }
        let name = "\(id.zoneName)\n\(id.ownerName)"
        return LedgerNote(name: name, type: change == .changed ? id.ownerName : nil)
    }

    func operation(user: String) throws(CKError) -> RequestModel {
        .fetchDatabaseChanges(
            FetchDatabaseChanges(scope: self.scope, token: self.token, limit: Self.limit(self.limit))
        )
    }

    func result(of item: Item, user: String) -> ItemResult? {
        switch item.outcome {
        case .zoneChanged(let zone): .value(CKRecordZone.ID(zone), .success(.changed))
        case .zoneDeleted(let zone): .value(CKRecordZone.ID(zone), .success(.deleted))
        default: nil
        }
    }
}
