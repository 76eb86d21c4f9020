import RecordModel
import StorageContract
import Testing

@testable import RecordServer

/// Notifications of changes that another server committed, of which rows tell a part.
@Suite(.timeLimit(.minutes(10)))
struct RouterPartTests {
    private static func record(
        _ name: String = "note",
        after: StoredRecord? = nil,
        isNew: Bool = false
    ) -> CommittedRecord {
        var record = CommittedRecord(
            zone: "Zone",
            name: name,
            before: isNew ? nil : Sample.stored(),
            after: after,
            definitions: Sample.definitions(["pages": .int64])
        )
        record.isBeforeKnown = isNew
        return record
    }

    /// The notifications of a report to listeners of subscriptions: `detail` or `news`, and the ID.
    private static func heard(
        _ report: CommittedChanges,
        _ subscriptions: [WatchedSubscription]
    ) throws -> [String] {
        var routing = NotificationRouting(loops: 1, run: Sample.run)
        routing.start(Sample.listener(1), subscriptions, positions: [Sample.privateDatabase: 10])
        _ = routing.takePosts()
        var commit = RoutedCommit(report)
        #expect(routing.route(&commit) == .routed)
        #expect(routing.followed[Sample.privateDatabase]?.position == 20)
        routing.timePassed(nowMilliseconds: 1)
        return routing.takePosts()[0].compactMap(\.delivery).map { delivery in
            let notification = delivery.notification
            #expect(notification.position == 20)
            let isHint = notification.isCoalesced && !notification.fires
            return "\(isHint ? "news" : "detail") \(notification.subject.key.id)"
        }.sorted()
    }

    private static let thick = Predicate.comparison(
        Comparison(field: "pages", comparator: .greaterThan, operand: .int64(10))
    )

    @Test func `a deletion is told to queries that do not look at values, and is news to others`() throws {
        var texts = NotificationInfo()
        texts.alertLocalizationArgs = ["title"]
        var keys = NotificationInfo()
        keys.desiredKeys = ["title"]
        let subscriptions = [
            Sample.watched("all", Sample.query()),
            Sample.watched("keys", Sample.query(), info: keys),
            Sample.watched("zone", .zone(ZoneID(zoneName: "Zone"), recordType: "Note")),
            Sample.watched("other type", Sample.query("Task")),
            Sample.watched("other zone", Sample.query(zone: "Other")),
            Sample.watched("creations", Sample.query(on: .creation)),
        ]
        let report = CommittedChanges(
            committedMilliseconds: 77,
            changes: [Sample.change(.record(Self.record()), at: 20)]
        )
        #expect(try Self.heard(report, subscriptions) == ["detail all", "detail keys", "detail zone"])
        for looking in [
            Sample.watched("thick", Sample.query("Note", Self.thick)),
            Sample.watched("texts", Sample.query(), info: texts),
        ] {
            #expect(try Self.heard(report, [looking]) == ["news \(looking.key.id)"])
        }
        let late = Sample.watched("late", Sample.query("Note", Self.thick), savedAt: 20)
        #expect(try Self.heard(report, [late]) == [])
    }

    @Test func `an update that replaced unknown values is told as any`() throws {
        let thick = Sample.watched("thick", Sample.query("Note", Self.thick))
        for (pages, heard) in [(Int64(11), ["detail thick"]), (9, [])] {
            let after = Sample.stored([Field(name: "pages", value: .int64(pages))])
            let report = CommittedChanges(
                committedMilliseconds: 77,
                changes: [Sample.change(.record(Self.record(after: after)), at: 20)]
            )
            #expect(try Self.heard(report, [thick]) == heard)
        }
    }

    @Test func `where changes were overwritten, queries of the zone have news besides`() throws {
        let subscriptions = [
            Sample.watched("thick", Sample.query("Note", Self.thick)),
            Sample.watched("other type", Sample.query("Task", zone: "Zone")),
            Sample.watched("other zone", Sample.query(zone: "Other")),
            Sample.watched("zone", .zone(ZoneID(zoneName: "Zone"), recordType: nil)),
        ]
        let after = Sample.stored([Field(name: "pages", value: .int64(11))])
        var report = CommittedChanges(
            committedMilliseconds: 77,
            changes: [Sample.change(.record(Self.record(after: after)), at: 20)],
            overwritten: [Sample.privateDatabase: 20]
        )
        #expect(
            try Self.heard(report, subscriptions)
                == ["detail thick", "detail zone", "news other type", "news thick"]
        )
        // Subscriptions alone may have changed.
        report.changes = []
        #expect(try Self.heard(report, subscriptions) == [])
    }

    @Test func `what was overwritten keeps its place in the queue, also when details are dropped`() throws {
        let queue = RouterQueue(changesMax: 1)
        var report = CommittedChanges(committedMilliseconds: 1, changes: [])
        report.overwritten = [Sample.privateDatabase: 5, Sample.publicDatabase: 6]
        let parts = report.byDatabase()
        #expect(Set(parts.map(\.database)) == [Sample.privateDatabase, Sample.publicDatabase])
        #expect(parts.allSatisfy { $0.committed.overwritten.count == 1 && $0.amount.changes == 1 })
        report.overwritten = [Sample.privateDatabase: 5]
        #expect(queue.add(report))
        report.overwritten = [Sample.privateDatabase: 7]
        #expect(!queue.add(report))
        let skipped = try #require(queue.takeSkipped(of: Sample.privateDatabase))
        #expect(skipped.position == 7 && skipped.isPart)
    }

    @Test func `subscriptions are looked for before a part is routed`() async throws {
        let known = Sample.watched("known", Sample.query())
        let new = Sample.watched("new", Sample.query(), savedAt: 15)
        let store = GatedStore([known], positions: [Sample.privateDatabase: 10])
        store.open()
        store.set(nil, [new])
        let router = RunningRouter(store)
        router.router.listen(Sample.listener(1))
        let after = Sample.stored()
        store.commit(
            CommittedChanges(
                committedMilliseconds: 77,
                changes: [Sample.change(.record(Self.record(after: after, isNew: true)), at: 20)],
                overwritten: [Sample.privateDatabase: 20]
            )
        )
        let told = await router.told(1)
        #expect(told[0].notification.subject.key == new.key)
        await router.router.stop(within: .seconds(600))
    }
}
