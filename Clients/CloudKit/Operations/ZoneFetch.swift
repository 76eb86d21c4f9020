internal import RecordModel
internal import WireProtocol

/// Zones to fetch: all, or those with certain IDs.
///
/// An ID that is named several times is fetched once.
struct ZoneFetch: BatchRequest {
    typealias ItemID = CKRecordZone.ID
    typealias Value = CKRecordZone

    static let partialFailureText = "Failed to fetch some record zones"

    private let scope: DatabaseScopeModel
    /// `nil` if all zones are fetched.
    private let ids: [CKRecordZone.ID]?

    init(_ ids: [CKRecordZone.ID]?, scope: DatabaseScopeModel) {
        var seen: Set<CKRecordZone.ID> = []
        self.ids = ids.map { ids in ids.filter { seen.insert($0).inserted } }
        self.scope = scope
    }

    var itemCount: Int? { self.ids?.count }
    var roles: RequestRoles<Self> { RequestRoles() }

    func operation(user: String) throws(CKError) -> RequestModel {
        let selection: FetchZones.Selection = if let ids = self.ids { .ids(ids.map(\.model)) } else { .all }
        return .fetchZones(FetchZones(scope: self.scope, selection: selection))
    }

    func result(of item: Item, user: String) -> ItemResult? {
        guard let ids = self.ids else {
            // Only the response has the list of zones.
            guard case .zone(let zone) = item.outcome else { return nil }
            return .value(CKRecordZone.ID(zone.id), .success(CKRecordZone(zone)))
        }
        guard Int(item.index) < ids.count else { return nil }
        let id = ids[Int(item.index)]
        return .value(id, item.outcome.zone(user: user, ErrorSubject(zone: id, scope: self.scope)))
    }
}
