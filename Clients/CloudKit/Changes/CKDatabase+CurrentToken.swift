internal import RecordModel
internal import WireProtocol

// Beyond Apple's surface.
extension CKDatabase {
    /// Fetches the token for now, of a zone: what was changed before is not among the changes since it, what is changed after is.
    ///
    /// Beyond CloudKit, where only whoever has fetched all changes has such a token. One round trip, however much is in the zone.
    ///
    /// - Parameter zoneID: The zone.
    /// - Returns: A token for `recordZoneChanges` and `CKFetchRecordZoneChangesOperation`.
    /// - Throws: Why there is none: `zoneNotFound` when the zone does not exist.
    public func currentToken(inZoneWith zoneID: CKRecordZone.ID) async throws -> CKServerChangeToken {
        try await self.results { CurrentToken(zoneID: zoneID, scope: $0) }.end.changeToken
    }

    /// Fetches the token for now, of the database.
    ///
    /// Beyond CloudKit. One round trip, however many zones there are.
    ///
    /// - Returns: A token for `databaseChanges` and `CKFetchDatabaseChangesOperation`.
    /// - Throws: Why there is none.
    public func currentDatabaseToken() async throws -> CKServerChangeToken {
        try await self.results { CurrentToken(zoneID: nil, scope: $0) }.end.changeToken
    }
}

/// The token for now, of a zone or of the database.
struct CurrentToken: BatchRequest {
    typealias ItemID = CKRecordZone.ID
    typealias Value = CKServerChangeToken

    // It has no items that could fail.
    static let partialFailureText = "Failed to fetch the token"

    private let scope: DatabaseScopeModel
    private let zoneID: CKRecordZone.ID?

    /// Without a zone: of the database.
    init(zoneID: CKRecordZone.ID?, scope: DatabaseScopeModel) {
        self.zoneID = zoneID
        self.scope = scope
    }

    /// The answer is in what the server says last.
    var itemCount: Int { 0 }
    var needsServer: Bool { true }
    var subject: ErrorSubject? { ErrorSubject(zone: self.zoneID, scope: self.scope) }

    func operation(user: String) throws(CKError) -> RequestModel {
        .fetchToken(FetchToken(scope: self.scope, zone: self.zoneID?.model))
    }

    func answer(to item: Item, user: String) -> Answer? { nil }
}
