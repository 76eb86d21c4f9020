package import WireProtocol

/// What kind of request it is.
package enum OperationKind: String, Hashable, Sendable, CaseIterable {
    case modifyRecords = "modify_records"
    case fetchRecords = "fetch_records"
    case modifyZones = "modify_zones"
    case fetchZones = "fetch_zones"
    case queryRecords = "query_records"
    case checkSchema = "check_schema"
    case fetchChanges = "fetch_changes"
    case fetchDatabaseChanges = "fetch_database_changes"
    case fetchToken = "fetch_token"
    case modifySubscriptions = "modify_subscriptions"
    case fetchSubscriptions = "fetch_subscriptions"
    case listen
    case uploadAssets = "upload_assets"
    case downloadAssets = "download_assets"
    case acceptShares = "accept_shares"
    case fetchShareMetadata = "fetch_share_metadata"
    case fetchShareParticipants = "fetch_share_participants"
    case requestShareAccess = "request_share_access"

    /// Its place among `allCases`.
    var number: Int {
        switch self {
        case .modifyRecords: 0
        case .fetchRecords: 1
        case .modifyZones: 2
        case .fetchZones: 3
        case .queryRecords: 4
        case .checkSchema: 5
        case .fetchChanges: 6
        case .fetchDatabaseChanges: 7
        case .fetchToken: 8
        case .modifySubscriptions: 9
        case .fetchSubscriptions: 10
        case .listen: 11
        case .uploadAssets: 12
        case .downloadAssets: 13
        case .acceptShares: 14
        case .fetchShareMetadata: 15
        case .fetchShareParticipants: 16
        case .requestShareAccess: 17
        }
    }

    /// Whether bytes of assets travel on its stream.
    var movesAssets: Bool { self == .uploadAssets || self == .downloadAssets }
}

/// A request that a fault may befall.
package struct FaultOccasion: Hashable, Sendable {
    package var operation: OperationKind
    /// Which request of its kind on this server this is, from 1.
    package var ordinal: Int
    /// `nil`: not signed in.
    package var userRecordName: String?
}

/// What happens to a request instead of the usual, or before it.
package enum Fault: Hashable, Sendable {
    /// The whole request fails; nothing is executed.
    case refuse(Failure)
    /// The item with this number fails and the others are executed; in an atomic request they fail with it.
    case refuseItem(Int, Failure)
    /// The connection breaks, and nothing was executed.
    case dropConnectionBeforeExecution
    /// The connection breaks after the request was executed and before its answer.
    case dropConnectionAfterCommit
    /// The request is executed later.
    case delay(Duration)
    /// The request is executed when the gate opens.
    case hold(FaultGate)
}

/// Decides about faults.
///
/// Called on event loops: must not block. A server without one pays nothing.
package typealias FaultInjector = @Sendable (FaultOccasion) -> Fault?
