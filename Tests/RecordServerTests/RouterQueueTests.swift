import RecordModel
import StorageContract
import Testing

@testable import RecordServer

/// What the router's queue keeps when more comes than it holds.
struct RouterQueueTests {
    @Test func `beyond its bound it keeps that a database changed, and the last of each subscription`()
        throws
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
        let events = try #require(queue.take())
        try #require(events.count == 4)
        guard case .committed(let kept) = events[0], case .skipped(Sample.privateDatabase) = events[1],
            case .stopped(1) = events[2], case .skipped(Sample.publicDatabase) = events[3]
        else {
            Issue.record("the order is not that in which they came")
            return
        }
        #expect(kept.committed.changes.map(\.position) == [1, 2])
        let skipped = try #require(queue.takeSkipped(of: Sample.privateDatabase))
        #expect(skipped.position == 6)
        #expect(skipped.subscriptions.map(\.change) == [.deleted(watched.key)])
        #expect(queue.takeSkipped(of: Sample.publicDatabase)?.position == 5)
        #expect(queue.takeSkipped(of: Sample.publicDatabase) == nil)
    }

    @Test func `there is room again when all is routed, not when it is taken`() throws {
        let queue = RouterQueue(changesMax: 1)
        let change = Self.committed([Sample.change(.zoneCreated("Zone"), at: 1)])
        #expect(queue.add(change))
        let events = try #require(queue.take())
        #expect(queue.waiting == 1)
        #expect(!queue.add(change))
        for case .committed(let commit) in events { queue.routed(commit) }
        #expect(queue.waiting == 0)
        // The order of a database stays: what comes behind dropped details has none either.
        #expect(!queue.add(change))
        #expect(queue.takeSkipped(of: Sample.privateDatabase) != nil)
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
        let events = try #require(queue.take())
        guard case .committed(let last)? = events.last, case .skipped? = events.dropLast().last else {
            Issue.record("the other's change was dropped")
            return
        }
        #expect(last.committed.changes.map(\.database) == [Sample.publicDatabase])
        #expect(queue.takeSkipped(of: Sample.privateDatabase)?.position == 1_001)
        #expect(queue.waiting == 46)
    }

    @Test func `a transaction of several databases is a piece of work for each`() throws {
        let zone = CommittedChange.Kind.zoneCreated("Zone")
        let committed = CommittedChanges(
            committedMilliseconds: 1,
            changes: [
                Sample.change(zone, at: 1), Sample.change(zone, at: 8, in: Sample.publicDatabase),
                Sample.change(zone, at: 2),
            ],
            incomplete: [Sample.publicDatabase: 9, DatabaseID(rawValue: 3): 4]
        )
        let parts = committed.byDatabase()
        #expect(parts.map(\.database.rawValue) == [2, 1, 3])
        #expect(parts.map { $0.committed.changes.map(\.position) } == [[1, 2], [8], []])
        #expect(parts.map { $0.committed.incomplete[$0.database] } == [nil, 9, 4])
        #expect(parts.map(\.amount.changes) == [2, 2, 1])
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
        #expect(queue.take() == nil)
    }

    private static func committed(_ changes: [CommittedChange]) -> CommittedChanges {
        CommittedChanges(committedMilliseconds: 1, changes: changes)
    }
}
