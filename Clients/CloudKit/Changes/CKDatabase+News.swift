private import RecordModel
private import WireProtocol

// Beyond Apple's surface.
extension CKDatabase {
    /// Returns whether nothing has changed in a zone since a token.
    ///
    /// Beyond CloudKit, where only a fetch of all changes shows this. A client that has applied
    /// everything up to the token then has the zone as it was at a moment during the call, with
    /// every change that was acknowledged before it. Its own changes count, until it has fetched
    /// them. It takes one round trip, and no record travels but the first that has changed.
    ///
    /// - Parameters:
    ///   - token: The token of the last page that the client has applied. If `nil`, the client has
    ///     nothing: then only an empty zone has nothing new.
    ///   - zoneID: The zone.
    /// - Returns: `false` if there are changes to fetch.
    /// - Throws: `CKError`: `changeTokenExpired` if the token is too old (fetch without a token);
    ///   `zoneNotFound` if the zone does not exist; `notAuthenticated` (sign in);
    ///   `requestRateLimited`, `serviceUnavailable` or `networkFailure` (repeat later).
    public func isCurrent(
        _ token: CKServerChangeToken?,
        inZoneWith zoneID: CKRecordZone.ID
    ) async throws -> Bool {
        try await self.hasNoChanges(of: zoneID, since: token)
    }

    /// Returns whether no zone was created, changed or deleted since a token of the database.
    ///
    /// Beyond CloudKit. As `isCurrent(_:inZoneWith:)`, for all zones in one round trip.
    ///
    /// - Parameter databaseToken: The token of the last page of the database's changes, if the
    ///   client has fetched its zones. If `nil`, it has none.
    /// - Returns: `false` if there are zones to fetch.
    /// - Throws: `CKError`: `changeTokenExpired` if the token is too old (fetch without a token);
    ///   `notAuthenticated` (sign in); `requestRateLimited`, `serviceUnavailable` or
    ///   `networkFailure` (repeat later).
    public func isCurrent(_ databaseToken: CKServerChangeToken?) async throws -> Bool {
        try await self.hasNoChanges(of: nil, since: databaseToken)
    }

    /// Waits until a reader of a zone has applied every change.
    ///
    /// For a task that waits for another, which fetches: a test, or a screen that opens when its
    /// records are there. It asks the server whenever the reader's token has changed, and at least
    /// once a second.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - timeout: How long to wait. A zone that changes all the time may never be current.
    ///   - token: Returns the token of the last page that the reader has applied.
    /// - Returns: `false` if the time has passed.
    /// - Throws: `CKError` as `isCurrent(_:inZoneWith:)`, unless the error is temporary;
    ///   `CancellationError` if the task is cancelled.
    public func waitUntilCurrent(
        inZoneWith zoneID: CKRecordZone.ID,
        timeout: Duration,
        token: @Sendable () async throws -> CKServerChangeToken?
    ) async throws -> Bool {
        try await self.waitUntilNoChanges(of: zoneID, timeout: timeout, token: token)
    }

    /// Waits until a reader of the database has fetched every zone that was created, changed or
    /// deleted; see `waitUntilCurrent(inZoneWith:timeout:token:)`.
    ///
    /// - Parameters:
    ///   - timeout: The longest wait. A database that changes all the time may never be current.
    ///   - databaseToken: Returns the token of the last page of the database's changes, if the
    ///     reader has fetched its zones.
    /// - Returns: `false` if the time has passed.
    /// - Throws: `CKError` as `isCurrent(_:)`, unless the error is temporary; `CancellationError`
    ///   if the task is cancelled.
    public func waitUntilCurrent(
        timeout: Duration,
        databaseToken: @Sendable () async throws -> CKServerChangeToken?
    ) async throws -> Bool {
        try await self.waitUntilNoChanges(of: nil, timeout: timeout, token: databaseToken)
    }

    private func waitUntilNoChanges(
        of zoneID: CKRecordZone.ID?,
        timeout: Duration,
        token: () async throws -> CKServerChangeToken?
    ) async throws -> Bool {
        var wait = CurrencyWait(timeout: timeout)
        var asked: CKServerChangeToken??
        while true {
            let applied = try await token()
            do {
                if wait.mustAsk() || asked != .some(applied) {
                    asked = applied
                    if try await self.hasNoChanges(of: zoneID, since: applied) { return true }
                }
                guard try await wait.pause() else { return false }
            } catch let error as CKError where error.isWaitedOut {
                asked = nil
                guard try await wait.pause(for: error) else { return false }
            }
        }
    }

    /// Asks page by page, since the first may have nothing but positions that were left behind.
    func hasNoChanges(of zoneID: CKRecordZone.ID?, since token: CKServerChangeToken?) async throws -> Bool {
        var bytes = token?.bytes ?? []
        while true {
            let since = bytes
            let page = try await self.results { News(of: zoneID, since: since, scope: $0) }
            guard page.order.isEmpty else { return false }
            guard page.end.moreComing else { return true }
            bytes = try page.end.changeToken.bytes
            guard bytes != since else { throw CKError.feedStandsStill }
        }
    }
}

/// The first change of a zone or a database after a token, for a caller that only asks whether
/// there is one: no reader has it, and no ledger notes it.
private struct News: BatchRequest {
    typealias ItemID = UInt32
    typealias Value = Bool

    static let partialFailureText = "Failed to look for changes"

    private let scope: DatabaseScopeModel
    private let zoneID: CKRecordZone.ID?
    private let token: [UInt8]

    /// Without a zone it is about the database.
    init(of zoneID: CKRecordZone.ID?, since token: [UInt8], scope: DatabaseScopeModel) {
        self.zoneID = zoneID
        self.token = token
        self.scope = scope
    }

    var itemCount: Int? { nil }
    var roles: RequestRoles<Self> {
        RequestRoles(subject: ErrorSubject(zone: self.zoneID, scope: self.scope))
    }

    func operation(user: String) throws(CKError) -> RequestModel {
        guard let zone = self.zoneID?.model else {
            return .fetchDatabaseChanges(
                FetchDatabaseChanges(scope: self.scope, token: self.token, limit: 1)
            )
        }
        return .fetchChanges(
            FetchChanges(scope: self.scope, zone: zone, token: self.token, desiredKeys: [], limit: 1)
        )
    }

    func result(of item: Item, user: String) -> ItemResult? { .value(item.index, .success(true)) }
}
