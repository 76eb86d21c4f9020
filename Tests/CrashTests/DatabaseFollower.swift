import RecordModel
import WireProtocol

/// The zones that one reader knows, and their position in the feed of the database.
struct DatabaseFollower: Sendable {
    private(set) var zones: Set<ZoneID> = []
    private(set) var isThrough = false
    private var token: [UInt8] = []

    func request(limit: Int) -> FetchDatabaseChanges {
        FetchDatabaseChanges(scope: .private, token: self.token, limit: UInt32(limit))
    }

    /// Takes a page; returns zones that have something new, and those that are gone.
    mutating func take(
        _ items: [Item],
        _ end: End,
        limit: Int,
        askedAt tick: Int,
        _ ledger: FeedLedger
    ) throws -> (changed: [ZoneID], deleted: [ZoneID]) {
        guard items.count <= limit, end.totals == nil, (1...1_024).contains(end.token.count) else {
            throw FeedFlaw("a page of \(items.count) zones, with a token of \(end.token.count) bytes")
        }
        var changed: [ZoneID] = []
        var deleted: [ZoneID] = []
        for item in items {
            switch item.outcome {
            case .zoneChanged(let zone): changed.append(ZoneID(zoneName: zone.zoneName))
            case .zoneDeleted(let zone):
                deleted.append(ZoneID(zoneName: zone.zoneName))
                guard !self.token.isEmpty, ledger.mayBeMissing(zone, at: tick) else {
                    throw FeedFlaw("\(zone.zoneName) is not deleted")
                }
            case let outcome: throw FeedFlaw("\(outcome) in the feed of a database")
            }
        }
        guard Set(changed + deleted).count == items.count else { throw FeedFlaw("a zone twice in a page") }
        self.zones = self.zones.union(changed).subtracting(deleted)
        self.token = end.token
        self.isThrough = !end.moreComing
        let missing = FeedData.zones.filter { !self.zones.contains($0) && !ledger.mayBeMissing($0, at: tick) }
        guard missing.isEmpty || !self.isThrough else {
            throw FeedFlaw("\(missing.map(\.zoneName)) are not in the feed of the database")
        }
        return (changed, deleted)
    }
}
