internal import RecordModel
internal import WireProtocol

/// Records to fetch by ID.
///
/// An ID that is named several times is fetched once.
struct RecordFetch: BatchRequest {
    typealias ItemID = CKRecord.ID
    typealias Value = CKRecord

    static let partialFailureText = "Failed to fetch some records"

    private let scope: DatabaseScopeModel
    private let ids: [CKRecord.ID]
    private let desiredKeys: [CKRecord.FieldKey]?
    private let page = PageObjects()

    init(_ ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]?, scope: DatabaseScopeModel) {
        var seen: Set<CKRecord.ID> = []
        self.ids = CKRecord.ID.areDistinct(ids) ? ids : ids.filter { seen.insert($0).inserted }
        self.desiredKeys = desiredKeys
        self.scope = scope
    }

    var itemCount: Int { self.ids.count }
    var assetSource: AssetSource? { AssetSource(scope: self.scope, desiredKeys: self.desiredKeys) }

    func operation(user: String) throws(CKError) -> RequestModel {
        .fetchRecords(
            FetchRecords(
                scope: self.scope,
                ids: self.ids.map(\.model),
                desiredKeys: ShareKeys.asked(self.desiredKeys)
            )
        )
    }

    func result(of item: Item, user: String) throws(WireError) -> ItemResult? {
        guard Int(item.index) < self.ids.count else { return nil }
        let id = self.ids[Int(item.index)]
        switch item.outcome {
        case .record(let message):
            return .value(id, try self.page.record(message, askedAs: id, user: user).result)
        case .failure(let failure):
            let subject = ErrorSubject(id, scope: self.scope)
            let error = CKError(failure.about(subject), clientRecord: nil, itemID: nil, currentUser: user)
            return .value(id, .failure(error))
        default: return .value(id, .failure(CKError.resultOfAnotherKind))
        }
    }
}

/// A request for the signed-in user's record; its name is known once there is a connection.
struct CurrentUserFetch: BatchRequest {
    typealias ItemID = CKRecord.ID
    typealias Value = CKRecord

    static let partialFailureText = RecordFetch.partialFailureText

    private let scope: DatabaseScopeModel
    private let desiredKeys: [CKRecord.FieldKey]?

    init(desiredKeys: [CKRecord.FieldKey]?, scope: DatabaseScopeModel) {
        self.desiredKeys = desiredKeys
        self.scope = scope
    }

    var itemCount: Int { 1 }
    var assetSource: AssetSource? { AssetSource(scope: self.scope, desiredKeys: self.desiredKeys) }

    func operation(user: String) throws(CKError) -> RequestModel {
        guard !user.isEmpty else { throw CKError.nobodySignedIn }
        return try self.fetch(user).operation(user: user)
    }

    func result(of item: Item, user: String) throws(WireError) -> ItemResult? {
        try self.fetch(user).result(of: item, user: user)
    }

    private func fetch(_ user: String) -> RecordFetch {
        RecordFetch([CKRecord.ID(recordName: user)], desiredKeys: self.desiredKeys, scope: self.scope)
    }
}
