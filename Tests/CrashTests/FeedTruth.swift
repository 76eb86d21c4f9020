import RecordClient
import RecordModel
import WireProtocol

/// What is committed, read by other ways than feeds: the list of zones, records by name, and a
/// query over all zones.
struct FeedTruth: Sendable {
    private(set) var zones: [ZoneID: [String: Content]] = [:]

    init(_ client: RecordClient) async throws {
        let user = try await client.welcome(timeout: .seconds(30)).userRecordName
        let list = Operation.fetchZones(FetchZones(scope: .private, selection: .all))
        for outcome in try await client.perform(list, timeout: .seconds(30)).values {
            guard case .zone(let zone) = outcome else { throw FeedFlaw("\(outcome) in the list of zones") }
            let id = ZoneID(zoneName: zone.id.zoneName)
            let ids = (FeedData.names + [user]).map { RecordID(zone: id, recordName: $0) }
            let fetch = Operation.fetchRecords(FetchRecords(scope: .private, ids: ids))
            let records = try await client.perform(fetch, timeout: .seconds(30)).values.compactMap(\.record)
            self.zones[id] = Dictionary(
                uniqueKeysWithValues: try records.map { ($0.id.recordName, try Content($0)) }
            )
        }
        var fetched: [ZoneID: [String: Content]] = self.zones.filter { !$0.value.isEmpty }
        fetched[.default]?[user] = nil
        if fetched[.default]?.isEmpty == true { fetched[.default] = nil }
        guard try await Self.queried(client) == fetched else {
            throw FeedFlaw("a query and fetches of the same records differ")
        }
    }

    private static func queried(_ client: RecordClient) async throws -> [ZoneID: [String: Content]] {
        var zones: [ZoneID: [String: Content]] = [:]
        var start = QueryRecords.Start.query(Query(recordType: FeedData.recordType), zone: nil)
        while true {
            let query = QueryRecords(scope: .private, start: start)
            let (items, end) = try await client.answer(to: .queryRecords(query))
            for record in items.compactMap(\.outcome.record) {
                let zone = ZoneID(zoneName: record.id.zone.zoneName)
                zones[zone, default: [:]][record.id.recordName] = try Content(record)
            }
            guard !end.cursor.isEmpty else { return zones }
            start = .cursor(end.cursor)
        }
    }

    /// What was acknowledged and is not there, or is there and should not be.
    func faults(_ ledger: FeedLedger) -> [String] {
        let (tick, _) = ledger.now()
        return FeedData.zones.flatMap { zone in
            let seen = self.zones[zone] ?? [:]
            return ledger.faults(zone, seen, askedAt: tick) + ledger.leftBehind(zone, seen)
        }
    }
}
