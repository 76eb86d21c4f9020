import RecordModel
import RecordStore
import Testing

@testable import RecordServer

/// What the router's queue keeps when more comes than it holds.
struct RouterQueueTests {
    @Test func `beyond its bound it keeps which databases changed, and the last of each subscription`() throws
    {
        let queue = RouterQueue(changesMax: 2)
        let watched = Sample.watched("sub", Sample.query())
        let zone = CommittedChange.Kind.zoneCreated("Zone")
        #expect(queue.add(Self.committed([Sample.change(zone, at: 1), Sample.change(zone, at: 2)])))
        #expect(!queue.add(Self.committed([Sample.change(zone, at: 3)])))
        queue.add(.stopped(1))
        #expect(
            !queue.add(
                Self.committed([
                    Sample.change(.subscriptionSaved(watched), at: 4),
                    Sample.change(zone, at: 5, in: Sample.publicDatabase),
                ])
            )
        )
        let incomplete = CommittedChanges(
            committedMilliseconds: 1,
            changes: [Sample.change(.subscriptionDeleted(watched.key), at: 6)],
            incomplete: [Sample.privateDatabase: 6]
        )
        #expect(!queue.add(incomplete))
        let events = try #require(queue.takeAll())
        try #require(events.count == 4)
        guard case .committed(let kept) = events[0], case .skipped(let first) = events[1],
            case .stopped(1) = events[2], case .skipped(let second) = events[3]
        else {
            Issue.record("the order is not that in which they came")
            return
        }
        #expect(kept.changes.map(\.position) == [1, 2])
        #expect(first.databases == [Sample.privateDatabase: 3])
        #expect(first.subscriptions.isEmpty)
        #expect(second.databases == [Sample.privateDatabase: 6, Sample.publicDatabase: 5])
        #expect(second.subscriptions.map(\.change) == [.deleted(watched.key)])
    }

    @Test func `there is room again when all was taken`() {
        let queue = RouterQueue(changesMax: 1)
        let change = Self.committed([Sample.change(.zoneCreated("Zone"), at: 1)])
        #expect(queue.add(change))
        #expect(!queue.add(change))
        #expect(queue.takeAll()?.count == 2)
        #expect(queue.add(change))
    }

    @Test func `a database that has too much waiting loses its details, and no other loses any`() throws {
        let queue = RouterQueue(changesMax: 90)
        let zone = CommittedChange.Kind.zoneCreated("Zone")
        var kept = 0
        for position in 1...1_000 where queue.add(Self.committed([Sample.change(zone, at: Int64(position))]))
        {
            kept += 1
        }
        // Half, as nobody else has any.
        #expect(kept == 45)
        let both = [
            Sample.change(zone, at: 1_001), Sample.change(zone, at: 7, in: Sample.publicDatabase),
        ]
        #expect(!queue.add(Self.committed(both)))
        let events = try #require(queue.takeAll())
        guard case .committed(let last)? = events.last, case .skipped(let skipped)? = events.dropLast().last
        else {
            Issue.record("the other's change was dropped")
            return
        }
        #expect(last.changes.map(\.database) == [Sample.publicDatabase])
        #expect(skipped.databases == [Sample.privateDatabase: 1_001])
        #expect(queue.waiting == 0)
    }

    @Test func `large records fill it as well`() {
        let queue = RouterQueue(bytesMax: 5_000)
        let body = [Field(name: "value", value: .bytes([UInt8](repeating: 1, count: 6_000)))]
        let record = CommittedRecord(
            zone: "Zone",
            name: "record",
            before: nil,
            after: Sample.stored(body),
            definitions: FieldDefinitions()
        )
        let change = Self.committed([Sample.change(.record(record), at: 1)])
        #expect(queue.add(change))
        #expect(!queue.add(change))
    }

    @Test func `closed, it drops what it has and takes nothing`() {
        let queue = RouterQueue()
        #expect(queue.add(.asked(1)))
        queue.close()
        #expect(queue.isClosed)
        #expect(!queue.add(.asked(2)))
        #expect(queue.takeAll() == nil)
    }

    private static func committed(_ changes: [CommittedChange]) -> CommittedChanges {
        CommittedChanges(committedMilliseconds: 1, changes: changes)
    }
}
