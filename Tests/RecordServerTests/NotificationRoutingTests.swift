import RecordModel
import RecordStore
import StorageContract
import Testing
import WireProtocol

@testable import RecordServer

/// Commits in, notifications out, without a store and without connections.
struct NotificationRoutingTests {
    private static let definitions = Sample.definitions(["count": .int64])

    @Test func `a query fires as its bits say, on the record after it or, deleted, before it`() throws {
        let few = Field(name: "count", value: .int64(1))
        let many = Field(name: "count", value: .int64(10))
        let big = Predicate.comparison(
            Comparison(field: "count", comparator: .greaterThan, operand: .int64(5))
        )
        let cases: [(before: Field?, after: Field?, reason: RecordModel.Notification.Reason?)] = [
            (nil, many, .recordCreated), (nil, few, nil), (few, many, .recordUpdated),
            (many, many, .recordUpdated), (many, few, nil), (many, nil, .recordDeleted), (few, nil, nil),
        ]
        for bits in 1..<UInt32(8) {
            let firesOn = Subscription.FiresOn(rawValue: bits)
            var routing = Self.routing([Sample.watched("sub", Sample.query("Note", big, on: firesOn))])
            for (before, after, reason) in cases {
                let change = Self.record(before: before, after: after, at: 20)
                let posts = Self.commit([change], to: &routing)
                let fires = reason.map { firesOn.contains(Self.bit(of: $0)) } ?? false
                try #require(posts.count == (fires ? 1 : 0))
                guard fires, let notification = posts.first?.notification else { continue }
                #expect(notification.event.reason == reason)
                #expect(notification.committedMilliseconds == 77)
            }
        }
    }

    @Test func `a zone's and a database's subscription fire once a transaction`() {
        let zone = ZoneID(zoneName: "Zone")
        var routing = Self.routing([
            Sample.watched("zone", .zone(zone, recordType: nil)),
            Sample.watched("database", .database(recordType: nil)),
            Sample.watched("query", Sample.query()),
        ])
        let changes = (0..<5).map { Self.record(name: "\($0)", after: nil, at: 20 + Int64($0)) }
        let notifications = Self.commit(changes, to: &routing).compactMap(\.notification)
        #expect(notifications.filter { $0.subscriptionID == "query" }.count == 5)
        #expect(notifications.filter { $0.subscriptionID == "zone" }.map(\.event) == [.zone(zone)])
        #expect(notifications.filter { $0.subscriptionID == "database" }.map(\.event) == [.database])
    }

    @Test func `zones that come and go fire the database's, and a zone's goes with its zone`() {
        var routing = Self.routing([
            Sample.watched("zone", .zone(ZoneID(zoneName: "Zone"), recordType: nil)),
            Sample.watched("database", .database(recordType: nil)),
        ])
        let created = Self.commit([Sample.change(.zoneCreated("New"), at: 20)], to: &routing)
        #expect(created.compactMap(\.notification?.subscriptionID) == ["database"])
        let key = Sample.watched("zone", .database(recordType: nil)).key
        let deleted = Self.commit(
            [
                Self.record(after: nil, at: 21), Sample.change(.zoneDeleted("Zone"), at: 22),
                Sample.change(.subscriptionDeleted(key), at: 22),
            ],
            to: &routing
        )
        #expect(deleted.compactMap(\.notification?.subscriptionID) == ["database"])
    }

    @Test func `a connection hears nothing of its own, unless another changed the same zone with it`() {
        var routing = Self.routing([Sample.watched("zone", .zone(ZoneID(zoneName: "Zone"), recordType: nil))])
        #expect(Self.excluded(Self.commit([Self.record(after: nil, at: 20, by: 1)], to: &routing)) == [1])
        let both = [Self.record(after: nil, at: 21, by: 1), Self.record(after: nil, at: 22, by: 2)]
        #expect(Self.excluded(Self.commit(both, to: &routing)) == [nil])
        let twice = [Self.record(after: nil, at: 23, by: 1), Self.record(after: nil, at: 24, by: 1)]
        #expect(Self.excluded(Self.commit(twice, to: &routing)) == [1])
    }

    @Test func `a connection hears what one with its number did in another run`() {
        var routing = Self.routing([Sample.watched("zone", .zone(ZoneID(zoneName: "Zone"), recordType: nil))])
        let earlier = [Self.record(after: nil, at: 20, by: 1, of: .fresh())]
        #expect(Self.excluded(Self.commit(earlier, to: &routing)) == [nil])
    }

    @Test func `each event loop gets a notification once for all its connections`() {
        var routing = NotificationRouting(loops: 3, run: Sample.run)
        let watched = Sample.watched("sub", Sample.query())
        for (number, loop) in [(1, 0), (2, 2), (3, 0)] as [(UInt64, Int)] {
            routing.start(Sample.listener(number, loop: loop), [watched])
        }
        _ = routing.takePosts()
        routing.committed([Self.record(after: nil, at: 20)])
        let posts = routing.takePosts()
        #expect(posts.map { $0.flatMap(\.listeners) } == [[1, 3], [], [2]])
        #expect(routing.takePosts().map(\.count) == [0, 0, 0])
    }

    @Test func `who comes hears what there is news of, and nobody else does`() {
        var routing = Self.routing([Sample.watched("old", Sample.query())])
        let start = [
            Sample.watched("old", Sample.query(), hasChanges: false),
            Sample.watched("new", Sample.query("Task"), hasChanges: true, databasePosition: 33),
        ]
        routing.start(Sample.listener(2), start)
        let posts = routing.takePosts()[0]
        guard case .began(2)? = posts.first else {
            Issue.record("the listener was not told that it hears")
            return
        }
        let news = posts.compactMap(\.delivery)
        #expect(news.count == posts.count - 1)
        #expect(news.map(\.notification.subject.key.id) == ["new"])
        #expect(news.map(\.notification.position) == [33])
        #expect(news.map(\.listeners) == [[2]])
    }

    @Test func `a subscription that is saved again takes the place of the one before`() {
        var routing = Self.routing([Sample.watched("sub", Sample.query("Note"))])
        let again = Sample.watched("sub", Sample.query("Task"), savedAt: 20)
        _ = Self.commit([Sample.change(.subscriptionSaved(again), at: 20)], to: &routing)
        #expect(Self.commit([Self.record(after: nil, at: 21)], to: &routing).isEmpty)
        let task = Self.record(type: "Task", after: nil, at: 22)
        #expect(Self.commit([task], to: &routing).count == 1)
        _ = Self.commit([Sample.change(.subscriptionDeleted(again.key), at: 23)], to: &routing)
        #expect(Self.commit([task], to: &routing).isEmpty)
        #expect(routing.index.isEmpty)
    }

    @Test func `what is to fire once does so when somebody hears it`() {
        let once = Sample.watched("once", Sample.query(on: [.events, .once]))
        var routing = Self.routing([once])
        #expect(Self.commit([Self.record(after: nil, at: 20, by: 1)], to: &routing).isEmpty)
        #expect(Self.commit([Self.record(after: nil, at: 21, by: 9)], to: &routing).count == 1)
        #expect(Self.commit([Self.record(after: nil, at: 22, by: 9)], to: &routing).isEmpty)
    }

    @Test func `in a public database only who may read a record hears of it`() {
        var routing = NotificationRouting(loops: 1, run: Sample.run)
        let other = SignIn(
            environment: Sample.environment,
            publicDatabase: Sample.publicDatabase,
            privateDatabase: DatabaseID(rawValue: 3),
            userRecordName: "_other"
        )
        let query = Sample.query()
        let mine = Sample.watched("mine", query, database: Sample.publicDatabase)
        let others = Sample.watched("other's", query, database: Sample.publicDatabase, owner: "_other")
        routing.start(Sample.listener(1), [mine])
        routing.start(Sample.listener(2, signIn: other), [others])
        _ = routing.takePosts()
        var questions = 0
        let change = Self.record(after: nil, at: 20, in: Sample.publicDatabase, createdBy: "_other")
        routing.committed([change, change]) { question in
            questions += 1
            let requester = question.requester
            return question.recordType == "Note" && question.createdBy == requester.userRecordName
                && requester.scope == .public
        }
        let notifications = routing.takePosts()[0].compactMap(\.notification)
        #expect(notifications.map(\.subscriptionID) == ["other's", "other's"])
        #expect(notifications.allSatisfy { $0.scope == .public })
        #expect(questions == 2)
    }

    @Test func `in a shared database every change is heard of, whatever type the subscription names`() {
        var routing = NotificationRouting(loops: 1, run: Sample.run)
        var signIn = Sample.signIn
        signIn.sharedDatabase = DatabaseID(rawValue: 3)
        let typed = Sample.watched("typed", .database(recordType: "Note"), database: DatabaseID(rawValue: 3))
        routing.start(Sample.listener(1, signIn: signIn), [typed])
        _ = routing.takePosts()
        let kinds: [CommittedChange.Kind] = [
            .zoneCreated("_owner/Zone"), .zoneChanged("_owner/Zone"), .zoneDeleted("_owner/Zone"),
        ]
        for (number, kind) in kinds.enumerated() {
            let change = Sample.change(kind, at: 20 + Int64(number), in: DatabaseID(rawValue: 3))
            let told = Self.commit([change], to: &routing).compactMap(\.notification)
            #expect(told.map(\.event) == [.database])
        }
        #expect(routing.stopped(1) != nil)
        #expect(routing.index.isEmpty)
    }

    @Test func `the details of what was too much are news for all who look there, and spend nothing`() throws
    {
        let once = Sample.watched("once", Sample.query("Note", on: [.events, .once]))
        var routing = Self.routing([
            once, Sample.watched("public", Sample.query(), database: Sample.publicDatabase),
        ])
        routing.skipped(Sample.privateDatabase, upTo: 50)
        routing.skipped(Sample.privateDatabase, upTo: 60)
        #expect(routing.isOwing)
        routing.timePassed(nowMilliseconds: 1)
        let posts = routing.takePosts()[0]
        #expect(posts.count == 1)
        let delivery = try #require(posts.first?.delivery)
        let notification = try delivery.notification.decoded()
        #expect(notification.subscriptionID == "once")
        #expect(notification.event == .query(nil))
        #expect(notification.isCoalesced)
        #expect(delivery.notification.position == 60)
        #expect(!delivery.notification.fires)
        #expect(!routing.isOwing)
        // It has not fired, and still does.
        let fired = Self.commit([Self.record(after: nil, at: 61)], to: &routing)
        #expect(fired.compactMap(\.delivery).map(\.notification.fires) == [true])
        #expect(Self.commit([Self.record(after: nil, at: 62)], to: &routing).isEmpty)
    }

    @Test func `nothing is left of who has gone, whenever he went`() {
        var routing = NotificationRouting(loops: 1, run: Sample.run)
        let listener = Sample.listener(1)
        routing.start(listener, [Sample.watched("sub", Sample.query())])
        let early = Sample.listener(2)
        routing.asked(2)
        #expect(routing.stopped(2) == nil)
        let needsNoWatch = routing.started(early, .success(ListeningStart(subscriptions: [], positions: [:])))
        #expect(needsNoWatch)
        let failing = Sample.listener(3)
        routing.asked(3)
        let neverWatched = routing.started(failing, .failure(.shuttingDown))
        #expect(!neverWatched)
        #expect(routing.stopped(3) == nil)
        #expect(routing.listenersCount == 1)
        #expect(routing.stopped(1) == listener.identity)
        #expect(routing.stopped(1) == nil)
        #expect(routing.listenersCount == 0)
        #expect(routing.index.isEmpty)
    }

    @Test func `a condition that the schema has no field for any more is met by nothing`() {
        let gone = Predicate.comparison(Comparison(field: "gone", comparator: .equals, operand: .int64(1)))
        var routing = Self.routing([Sample.watched("sub", Sample.query("Note", gone))])
        #expect(Self.commit([Self.record(after: nil, at: 20)], to: &routing).isEmpty)
        // A later save defines the field: the condition is checked again.
        let field = Field(name: "gone", value: .int64(1))
        let defined = Self.record(after: field, at: 21, definitions: Sample.definitions(["gone": .int64]))
        #expect(Self.commit([defined], to: &routing).count == 1)
    }

    // MARK: - Routing and commits

    /// With one listener, number 1.
    private static func routing(_ subscriptions: [WatchedSubscription]) -> NotificationRouting {
        var routing = NotificationRouting(loops: 1, run: Sample.run)
        routing.start(Sample.listener(1), subscriptions)
        _ = routing.takePosts()
        return routing
    }

    private static func commit(
        _ changes: [CommittedChange],
        to routing: inout NotificationRouting
    ) -> [NotificationRouting.Post] {
        routing.committed(changes)
        return routing.takePosts()[0]
    }

    private static func excluded(_ posts: [NotificationRouting.Post]) -> [UInt64?] {
        posts.compactMap { post -> UInt64?? in
            if case .delivery(let delivery) = post { .some(delivery.excluded) } else { nil }
        }
    }

    /// Without fields: one that was created with none.
    private static func record(
        name: String = "record",
        type: String = "Note",
        before: Field? = nil,
        after: Field?,
        at position: Int64,
        by connection: UInt64? = nil,
        of run: ServerRun = Sample.run,
        in database: DatabaseID = Sample.privateDatabase,
        createdBy: String = Sample.owner,
        definitions: FieldDefinitions = Self.definitions
    ) -> CommittedChange {
        func stored(_ field: Field?) -> StoredRecord {
            Sample.stored(
                field.map { [$0] } ?? [],
                recordType: type,
                position: position,
                createdBy: createdBy
            )
        }
        let isDeleted = before != nil && after == nil
        let record = CommittedRecord(
            zone: "Zone",
            name: name,
            before: before.map { stored($0) },
            after: isDeleted ? nil : stored(after),
            definitions: definitions
        )
        return Sample.change(.record(record), at: position, in: database, by: connection, of: run)
    }

    private static func bit(of reason: RecordModel.Notification.Reason) -> Subscription.FiresOn {
        switch reason {
        case .recordCreated: .creation
        case .recordUpdated: .update
        case .recordDeleted: .deletion
        }
    }
}

extension NotificationRouting.Post {
    fileprivate var listeners: [UInt64] {
        guard case .delivery(let delivery) = self else { return [] }
        return delivery.listeners
    }
}

extension RecordModel.Notification.Event {
    fileprivate var reason: RecordModel.Notification.Reason? {
        guard case .query(let change?) = self else { return nil }
        return change.reason
    }
}
