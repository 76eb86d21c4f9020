import RecordModel
import WireProtocol

/// The kind of a request.
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
    case explainRecord = "explain_record"

    /// Its index in `allCases`.
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
        case .explainRecord: 18
        }
    }

    /// Whether asset bytes travel on its stream.
    var movesAssets: Bool { self == .uploadAssets || self == .downloadAssets }
}

extension OperationKind {
    init(_ operation: Operation) {
        switch operation {
        case .modifyRecords: self = .modifyRecords
        case .fetchRecords: self = .fetchRecords
        case .modifyZones: self = .modifyZones
        case .fetchZones: self = .fetchZones
        case .queryRecords: self = .queryRecords
        case .checkSchema: self = .checkSchema
        case .fetchChanges: self = .fetchChanges
        case .fetchDatabaseChanges: self = .fetchDatabaseChanges
        case .fetchToken: self = .fetchToken
        case .modifySubscriptions: self = .modifySubscriptions
        case .fetchSubscriptions: self = .fetchSubscriptions
        case .listen: self = .listen
        case .uploadAssets: self = .uploadAssets
        case .downloadAssets: self = .downloadAssets
        case .acceptShares: self = .acceptShares
        case .fetchShareMetadata: self = .fetchShareMetadata
        case .fetchShareParticipants: self = .fetchShareParticipants
        case .requestShareAccess: self = .requestShareAccess
        case .explainRecord: self = .explainRecord
        }
    }
}
