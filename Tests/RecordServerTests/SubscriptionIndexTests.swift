import RecordModel
import RecordStore
import Testing

@testable import RecordServer

/// Which subscriptions a change meets at all.
struct SubscriptionIndexTests {
    private static let zone = ZoneID(zoneName: "Zone")
    private static let kinds: [(String, Subscription.Kind)] = [
        ("notes anywhere", Sample.query("Note")), ("notes of the zone", Sample.query("Note", zone: "Zone")),
        ("notes of another zone", Sample.query("Note", zone: "Other")), ("tasks", Sample.query("Task")),
        ("zone", .zone(Self.zone, recordType: nil)), ("notes in zone", .zone(Self.zone, recordType: "Note")),
        ("tasks in zone", .zone(Self.zone, recordType: "Task")),
        ("other zone", .zone(ZoneID(zoneName: "Other"), recordType: nil)),
        ("database", .database(recordType: nil)), ("notes in database", .database(recordType: "Note")),
    ]

    @Test func `a change of a record meets what names its type and zone, or none`() {
        let index = Self.full()
        #expect(Self.queries(index, "Note", "Zone") == ["notes anywhere", "notes of the zone"])
        #expect(Self.queries(index, "Note", "Third") == ["notes anywhere"])
        #expect(Self.queries(index, "Task", "Zone") == ["tasks"])
        #expect(Self.queries(index, "Third", "Zone") == [])
        #expect(
            Self.changes(index, "Note", "Zone") == ["database", "notes in database", "notes in zone", "zone"]
        )
        #expect(Self.changes(index, "Third", "Other") == ["database", "other zone"])
        #expect(Self.changes(index, "Note", "Third") == ["database", "notes in database"])
    }

    @Test func `a zone that comes or goes is for the database, unless that names a type`() {
        #expect(Self.changes(Self.full(), nil, "Zone") == ["database"])
    }

    @Test func `the default zone fires queries only`() {
        let index = Self.full()
        #expect(Self.changes(index, "Note", ZoneID.defaultZoneName) == [])
        #expect(Self.changes(index, nil, ZoneID.defaultZoneName) == [])
        #expect(Self.queries(index, "Note", ZoneID.defaultZoneName) == ["notes anywhere"])
    }

    @Test func `another database is another place`() {
        let index = Self.full()
        var met: [String] = []
        index.forEachQuery(ofType: "Note", inZone: "Zone", of: Sample.publicDatabase) { met.append($0) }
        index.forEachChange(ofType: "Note", inZone: "Zone", of: Sample.publicDatabase) { met.append($0) }
        index.forEach(in: Sample.publicDatabase) { met.append($0) }
        #expect(met == [])
    }

    @Test func `all of a database are found, and nothing is left of what was removed`() {
        var index = Self.full()
        var all: [String] = []
        index.forEach(in: Sample.privateDatabase) { all.append($0) }
        #expect(all.sorted() == Self.kinds.map(\.0).sorted())
        for (number, kind) in Self.kinds.enumerated() {
            index.remove(numbered: UInt64(number), for: kind.1, in: Sample.privateDatabase)
            var left: [String] = []
            index.forEach(in: Sample.privateDatabase) { left.append($0) }
            #expect(left.sorted() == Self.kinds.dropFirst(number + 1).map(\.0).sorted())
        }
        #expect(index.isEmpty)
    }

    private static func full() -> SubscriptionIndex<String> {
        var index = SubscriptionIndex<String>()
        for (number, kind) in self.kinds.enumerated() {
            index.insert(kind.0, numbered: UInt64(number), for: kind.1, in: Sample.privateDatabase)
        }
        return index
    }

    private static func queries(
        _ index: SubscriptionIndex<String>,
        _ type: String,
        _ zone: String
    ) -> [String] {
        var met: [String] = []
        index.forEachQuery(ofType: type, inZone: zone, of: Sample.privateDatabase) { met.append($0) }
        return met.sorted()
    }

    private static func changes(
        _ index: SubscriptionIndex<String>,
        _ type: String?,
        _ zone: String
    ) -> [String] {
        var met: [String] = []
        index.forEachChange(ofType: type, inZone: zone, of: Sample.privateDatabase) { met.append($0) }
        return met.sorted()
    }
}
