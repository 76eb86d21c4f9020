internal import RecordModel
internal import WireProtocol

/// Records to fetch by ID, or the record of the signed-in user.
///
/// An ID that is named several times is fetched once.
struct RecordFetch: BatchRequest {
    typealias ItemID = CKRecord.ID
    typealias Value = CKRecord

    static let partialFailureText = "Failed to fetch some records"

    private let scope: DatabaseScopeModel
    /// `nil` if it is the user's record: its name is known once there is a connection.
    private let ids: [CKRecord.ID]?
    private let desiredKeys: [CKRecord.FieldKey]?
    private let page = PageObjects()

    init(_ ids: [CKRecord.ID]?, desiredKeys: [CKRecord.FieldKey]?, scope: DatabaseScopeModel) {
        var seen: Set<CKRecord.ID> = []
        self.ids = ids.map { ids in
            CKRecord.ID.areDistinct(ids) ? ids : ids.filter { seen.insert($0).inserted }
        }
        self.desiredKeys = desiredKeys
        self.scope = scope
    }

    var itemCount: Int? { self.ids?.count ?? 1 }

    var roles: RequestRoles<Self> {
        let source = AssetSource(scope: self.scope, desiredKeys: self.desiredKeys)
        return RequestRoles(records: RecordRole(.files(source)))
    }

    func operation(user: String) throws(CKError) -> RequestModel {
        guard self.ids != nil || !user.isEmpty else { throw CKError.nobodySignedIn }
        let ids = self.ids ?? [CKRecord.ID(recordName: user)]
        return .fetchRecords(
            FetchRecords(
                scope: self.scope,
                ids: ids.map(\.model),
                desiredKeys: ShareKeys.asked(self.desiredKeys)
            )
        )
    }

    func result(of item: Item, user: String) throws(WireError) -> ItemResult? {
        guard Int(item.index) < self.itemCount ?? 0 else { return nil }
        let id = self.ids?[Int(item.index)] ?? CKRecord.ID(recordName: user)
        guard case .record(let message) = item.outcome else {
            let subject = ErrorSubject(id, scope: self.scope)
            return .value(id, .failure(item.outcome.error(user: user, about: subject)))
        }
        return .value(id, try self.page.record(message, askedAs: id, user: user).result)
    }
}
