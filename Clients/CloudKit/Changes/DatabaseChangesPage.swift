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

    /// Without a token from the beginning; with a limit of `nil`, 0 and below as many as the server gives.
    init(since token: CKServerChangeToken?, limit: Int?, scope: DatabaseScopeModel) {
        self.token = token?.bytes ?? []
        self.limit = limit
        self.scope = scope
    }

    func following(_ token: CKServerChangeToken) -> DatabaseChangesPage {
        var page = self
        page.token = token.bytes
        return page
    }

    func operation(user: String) throws(CKError) -> RequestModel {
        .fetchDatabaseChanges(
            FetchDatabaseChanges(scope: self.scope, token: self.token, limit: Self.limit(self.limit))
        )
    }

    func answer(to item: Item, user: String) -> Answer? {
        switch item.outcome {
        case .zoneChanged(let zone): .value(CKRecordZone.ID(zone), .success(.changed))
        case .zoneDeleted(let zone): .value(CKRecordZone.ID(zone), .success(.deleted))
        default: nil
        }
    }
}
