internal import RecordModel
internal import WireProtocol

/// A page of a query: the first, or the one after a cursor.
struct RecordQuery: BatchRequest {
    typealias ItemID = CKRecord.ID
    typealias Value = CKRecord

    enum Start: Sendable {
        /// `zone` is `nil` if all zones are searched.
        case query(Query, zone: CKRecordZone.ID?)
        case cursor(CKQueryOperation.Cursor)
    }

    static let partialFailureText = "Failed to fetch some records"

    private let scope: DatabaseScopeModel
    private let start: Start
    private let desiredKeys: [CKRecord.FieldKey]?
    private let limit: Int
    private let isCount: Bool
    private let page = PageObjects()

    /// With a limit of 0 or less, the server decides.
    init(
        _ start: Start,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        limit: Int = CKQueryOperation.maximumResults,
        isCount: Bool = false,
        scope: DatabaseScopeModel
    ) {
        self.start = start
        self.desiredKeys = desiredKeys
        self.limit = limit
        self.isCount = isCount
        self.scope = scope
    }

    var itemCount: Int? { nil }

    var roles: RequestRoles<Self> {
        let source = AssetSource(scope: self.scope, desiredKeys: self.desiredKeys)
        var roles = RequestRoles<Self>(records: RecordRole(.files(source)))
        if case .query(_, let zone) = self.start {
            roles.subject = ErrorSubject(zone: zone, scope: self.scope)
        }
        return roles
    }

    func operation(user: String) throws(CKError) -> RequestModel {
        let start: QueryRecords.Start =
            switch self.start {
            case .query(let query, let zone): .query(query.naming(user: user), zone: zone?.model)
            case .cursor(let cursor): .cursor(cursor.bytes)
            }
        return .queryRecords(
            QueryRecords(
                scope: self.scope,
                start: start,
                desiredKeys: ShareKeys.asked(self.desiredKeys),
                limit: UInt32(clamping: self.limit),
                isCount: self.isCount
            )
        )
    }

    func result(of item: Item, user: String) throws(WireError) -> ItemResult? {
        guard case .record(let message) = item.outcome else { return nil }
        let (id, result) = try self.page.record(message, user: user)
        return .value(id, result)
    }
}

extension Query {
    fileprivate func naming(user: String) -> Query {
        var query = self
        query.predicate = self.predicate.naming(user: user)
        return query
    }
}

extension RecordModel.Predicate {
    /// Returns the predicate with the user's own name where it refers to "the current user".
    func naming(user: String) -> RecordModel.Predicate {
        guard !user.isEmpty else { return self }
        func named(_ reference: Reference) -> Reference {
            var reference = reference
            if reference.recordName == CKCurrentUserDefaultName { reference.recordName = user }
            return reference
        }
        return self.mappingOperands { operand in
            switch operand {
            case .reference(let reference): .reference(named(reference))
            case .referenceList(let references): .referenceList(references.map(named))
            default: operand
            }
        }
    }
}

extension End {
    /// The cursor for the next page; `nil` if there is none.
    var queryCursor: CKQueryOperation.Cursor? {
        self.cursor.isEmpty ? nil : CKQueryOperation.Cursor(bytes: self.cursor)
    }
}
