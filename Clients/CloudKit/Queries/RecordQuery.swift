internal import RecordModel
internal import WireProtocol

/// A page of a query: the first, or one that a cursor leads to.
struct RecordQuery: BatchRequest {
    typealias ItemID = CKRecord.ID
    typealias Value = CKRecord

    enum Start: Sendable {
        /// `zone` is `nil` for all zones.
        case query(Query, zone: CKRecordZone.ID?)
        case cursor(CKQueryOperation.Cursor)
    }

    static let partialFailureText = "Failed to fetch some records"

    private let scope: DatabaseScopeModel
    private let start: Start
    private let desiredKeys: [CKRecord.FieldKey]?
    private let limit: Int
    private let isCount: Bool

    /// A `limit` of 0 and below: as many as the server gives.
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

    /// Only the answer says how many there are.
    var itemCount: Int { 0 }
    var needsServer: Bool { true }

    func operation(user: String) throws(CKError) -> RequestModel {
        let start: QueryRecords.Start =
            switch self.start {
            case .query(let query, let zone):
                .query(query.replacing(user: CKCurrentUserDefaultName, by: user), zone: zone?.model)
            case .cursor(let cursor): .cursor(cursor.bytes)
            }
        return .queryRecords(
            QueryRecords(
                scope: self.scope,
                start: start,
                desiredKeys: self.desiredKeys,
                limit: UInt32(clamping: self.limit),
                isCount: self.isCount
            )
        )
    }

    func answer(to item: Item, user: String) -> Answer? {
        switch item.outcome {
        case .record(let record):
            .value(CKRecord.ID(record.id), .success(CKRecord(record, currentUser: user)))
        default: nil
        }
    }
}

extension Query {
    /// The query with the user's own name where it refers to a user as "the current one".
    fileprivate func replacing(user placeholder: String, by user: String) -> Query {
        guard !user.isEmpty else { return self }
        var query = self
        query.predicate = self.predicate.mappingOperands { operand in
            switch operand {
            case .reference(var reference) where reference.recordName == placeholder:
                reference.recordName = user
                return .reference(reference)
            case .referenceList(let references):
                return .referenceList(
                    references.map {
                        var reference = $0
                        if reference.recordName == placeholder { reference.recordName = user }
                        return reference
                    }
                )
            default: return operand
            }
        }
        return query
    }
}

extension End {
    /// Where a query goes on; `nil`: that was all.
    var queryCursor: CKQueryOperation.Cursor? {
        self.cursor.isEmpty ? nil : CKQueryOperation.Cursor(bytes: self.cursor)
    }
}
