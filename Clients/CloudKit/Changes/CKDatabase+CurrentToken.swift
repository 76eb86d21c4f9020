internal import RecordModel
internal import WireProtocol

// Beyond Apple's surface.
extension CKDatabase {
    /// Fetches the token for now of a zone: only later changes come after it.
    ///
    /// Beyond CloudKit, where a client gets such a token only by fetching all changes. It takes one
    /// round trip, however much is in the zone.
    ///
    /// - Parameter zoneID: The zone.
    /// - Returns: A token for `recordZoneChanges` and `CKFetchRecordZoneChangesOperation`.
    /// - Throws: `CKError`: `zoneNotFound` if the zone does not exist (create it);
    ///   `notAuthenticated` (sign in); `requestRateLimited`, `serviceUnavailable` or
    ///   `networkFailure` (repeat later).
    public func currentToken(inZoneWith zoneID: CKRecordZone.ID) async throws -> CKServerChangeToken {
        try await self.results { CurrentToken(zoneID: zoneID, scope: $0) }.end.changeToken
    }

    /// Fetches the token for now of the database.
    ///
    /// Beyond CloudKit. It takes one round trip, however many zones there are.
    ///
    /// - Returns: A token for `databaseChanges` and `CKFetchDatabaseChangesOperation`.
    /// - Throws: `CKError`: `notAuthenticated` (sign in); `permissionFailure` for a service without
    ///   a database of its own; `requestRateLimited`, `serviceUnavailable` or `networkFailure`
    ///   (repeat later).
    public func currentDatabaseToken() async throws -> CKServerChangeToken {
        try await self.results { CurrentToken(zoneID: nil, scope: $0) }.end.changeToken
    }
}

/// A request for the token for now, of a zone or of the database.
struct CurrentToken: BatchRequest {
    typealias ItemID = CKRecordZone.ID
    typealias Value = CKServerChangeToken

    // The request has no items that could fail.
    static let partialFailureText = "Failed to fetch the token"

    private let scope: DatabaseScopeModel
    private let zoneID: CKRecordZone.ID?

    /// Makes the request; without a zone it is about the database.
    init(zoneID: CKRecordZone.ID?, scope: DatabaseScopeModel) {
        self.zoneID = zoneID
        self.scope = scope
    }

    /// Not 0, although the response has no items: the token is in its end.
    var itemCount: Int? { nil }
    var roles: RequestRoles<Self> {
        RequestRoles(subject: ErrorSubject(zone: self.zoneID, scope: self.scope))
    }

    func operation(user: String) throws(CKError) -> RequestModel {
        .fetchToken(FetchToken(scope: self.scope, zone: self.zoneID?.model))
    }

    func result(of item: Item, user: String) -> ItemResult? { nil }
}
