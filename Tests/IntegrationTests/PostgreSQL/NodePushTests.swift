import CloudKit
import CloudKitTesting
import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

/// Notifications of what is saved at one server of a store, to listeners at another.
@Suite(.timeLimit(.minutes(10)))
struct NodePushTests {
    private static let container = "iCloud.org.example.app"

    /// Two processes with one store, in folders of their own.
    private struct Servers {
        let saving: ServerUnderTest
        let listening: ServerUnderTest
        let alice: String
        let bob: String
        let zone: CKRecordZone.ID

        /// A connection of a user with an installation of its own.
        static func connect(_ token: String, _ server: ServerUnderTest, _ name: String) -> CKContainer {
            var connection = CKServerConnection(
                url: "tidemark://\(server.address)",
                token: token,
                certificateAuthority: .file(server.authorityPath)
            )
            connection.installationName = name
            return CKContainer(identifier: NodePushTests.container, connection: connection)
        }

        /// Alice's containers at both.
        var saver: CKContainer { Self.connect(self.alice, self.saving, "saver") }
        var listener: CKContainer { Self.connect(self.alice, self.listening, "listener") }

        func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: self.zone) }

        func record(_ name: String, _ fields: [String: any CKRecordValueProtocol] = [:]) -> CKRecord {
            let record = CKRecord(recordType: "Note", recordID: self.id(name))
            for (key, value) in fields { record[key] = value }
            return record
        }
    }

    private static func run(_ body: (Servers) async throws -> Void) async throws {
        let folder = try TemporaryDirectory()
        let cluster = try PostgreSQLCluster.running()
        let url = cluster.url(database: try cluster.emptyDatabase())
        func start(_ name: String) async throws -> ServerUnderTest {
            try await ServerUnderTest.start(
                data: folder.path + name,
                "--engine",
                "postgres",
                "--database-url",
                url,
                "--database-sync",
                "off",
                // No test stores a file, and the folders are not shared.
                "--set",
                "shared_assets=off"
            )
        }
        let saving = try await start("/one")
        let listening = try await start("/two")
        defer { for server in [saving, listening] { server.process.signal(SIGKILL) } }
        let place = ["--container", Self.container, "--data", folder.path + "/one"]
        let created = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["container", "create", Self.container, "--data", folder.path + "/one"]
        )
        #expect(created.exitCode == 0, "\(created.errors)")
        var tokens: [String] = []
        for name in ["alice", "bob"] {
            let added = try await ChildProcess.run(ChildProcess.tidemark, ["user", "add", name] + place)
            #expect(added.exitCode == 0, "\(added.errors)")
            tokens.append(String(added.output.dropLast()))
        }
        let database = Servers.connect(tokens[0], saving, "maker").privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "desk"))
        try await body(
            Servers(
                saving: saving,
                listening: listening,
                alice: tokens[0],
                bob: tokens[1],
                zone: zone.zoneID
            )
        )
        for server in [saving, listening] {
            server.process.signal(SIGTERM)
            #expect(await server.process.outcome().exitCode == 0)
        }
    }

    /// A line about a notification, such as `q 1 note Hello`.
    private static func words(_ notification: CKNotification) -> String {
        let id = notification.subscriptionID ?? "?"
        guard let query = notification as? CKQueryNotification else {
            return "\(id) \((notification as? CKRecordZoneNotification)?.recordZoneID?.zoneName ?? "")"
        }
        let text = query.recordFields?["text"] as? String
        let words = [
            id, "\(query.queryNotificationReason.rawValue)", query.recordID?.recordName ?? "unknown", text,
        ]
        return words.compactMap { $0 }.joined(separator: " ")
    }

    @Test
    func `a listener at one server hears of each record that is saved at another`() async throws {
        try await Self.run { servers in
            let database = servers.saver.privateCloudDatabase
            let query = CKQuerySubscription(
                recordType: "Note",
                predicate: NSPredicate(value: true),
                subscriptionID: "q",
                options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
            )
            let info = CKSubscription.NotificationInfo()
            info.desiredKeys = ["text"]
            query.notificationInfo = info
            try await database.save(query)
            var heard = await servers.listener.listening()
            var own = await Servers.connect(servers.alice, servers.saving, "neighbour").listening()
            let note = try await database.save(servers.record("note", ["text": "one"]))
            note["text"] = "two"
            var lines: [String] = []
            func hear() async throws {
                let notification = try #require(await heard.next())
                #expect(notification.isPruned == false)
                let query = try #require(notification as? CKQueryNotification)
                // The time of the commit is a detail as well.
                #expect(query.commitDate != nil)
                lines.append(Self.words(notification))
            }
            try await hear()
            try await database.save(note)
            try await hear()
            try await database.deleteRecord(withID: note.recordID)
            try await hear()
            #expect(lines == ["q 1 note one", "q 2 note two", "q 3 note"])
            // A listener at the server itself hears the same.
            var neighbours: [String] = []
            while neighbours.count < 3, let notification = await own.next() {
                neighbours.append(Self.words(notification))
            }
            #expect(neighbours == lines)
        }
    }

    @Test
    func `a condition that looked at a deleted record has news, and others are told of it`() async throws {
        try await Self.run { servers in
            let database = servers.saver.privateCloudDatabase
            let thick = CKQuerySubscription(
                recordType: "Note",
                predicate: NSPredicate(format: "pages > 10"),
                subscriptionID: "thick",
                options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
            )
            try await database.save(servers.record("first", ["pages": 0]))
            try await database.save(thick)
            var heard = await servers.listener.listening()
            func next() async throws -> String { Self.words(try #require(await heard.next())) }
            try await database.save(servers.record("thin", ["pages": 1]))
            let record = try await database.save(servers.record("thick", ["pages": 11]))
            #expect(try await next() == "thick 1 thick")
            record["pages"] = 12
            try await database.save(record)
            #expect(try await next() == "thick 2 thick")
            try await database.deleteRecord(withID: record.recordID)
            #expect(try await next() == "thick 2 unknown")
        }
    }

    @Test
    func `shared databases are told of at every server, and who made a change is not told`() async throws {
        try await Self.run { servers in
            let database = servers.saver.privateCloudDatabase
            let bob = Servers.connect(servers.bob, servers.listening, "bob")
            let list = CKRecord(recordType: "List", recordID: servers.id("list"))
            let share = CKShare(rootRecord: list)
            share.publicPermission = .readWrite
            let results = try await database.modifyRecords(saving: [list, share], deleting: [])
            let saved = try #require(try results.saveResults[share.recordID]?.get() as? CKShare)
            _ = try await bob.accept(bob.shareMetadata(for: #require(saved.url)))
            let shared = bob.sharedCloudDatabase
            try await shared.save(CKDatabaseSubscription(subscriptionID: "shared"))
            let notes = CKQuerySubscription(
                recordType: "Note",
                predicate: NSPredicate(value: true),
                subscriptionID: "q",
                options: [.firesOnRecordCreation, .firesOnRecordUpdate]
            )
            let info = CKSubscription.NotificationInfo()
            info.desiredKeys = ["text"]
            notes.notificationInfo = info
            try await database.save(notes)
            var bobs = await Servers.connect(servers.bob, servers.listening, "bob's").listening()
            var alices = await servers.listener.listening()
            var makers = await servers.saver.listening()
            let note = servers.record("note", ["text": "Alice's"])
            note.setParent(list)
            try await database.save(note)
            #expect(Self.words(try #require(await bobs.next())) == "shared ")
            #expect(Self.words(try #require(await alices.next())) == "q 1 note Alice's")
            // Bob changes it at the other server: Alice's maker hears of that, and of nothing before.
            let zone = try #require(try await shared.allRecordZones().first?.zoneID)
            let theirs = try await shared.record(for: CKRecord.ID(recordName: "note", zoneID: zone))
            theirs["text"] = "Bob's"
            try await shared.save(theirs)
            #expect(Self.words(try #require(await makers.next())) == "q 2 note Bob's")
            #expect(Self.words(try #require(await alices.next())) == "q 2 note Bob's")
        }
    }

    @Test
    func `a listener fetches all of a thousand records, saved one by one and in bursts`() async throws {
        try await Self.run { servers in
            let database = servers.saver.privateCloudDatabase
            try await database.save(
                CKRecordZoneSubscription(zoneID: servers.zone, subscriptionID: "desk")
            )
            var heard = await servers.listener.listening()
            let saves = Task {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for part in 0..<4 {
                        group.addTask {
                            for number in 0..<50 {
                                try await database.save(servers.record("one-\(part)-\(number)"))
                            }
                            let burst = (0..<200).map { servers.record("burst-\(part)-\($0)") }
                            _ = try await database.modifyRecords(saving: burst, deleting: [])
                        }
                    }
                    try await group.waitForAll()
                }
            }
            let listener = servers.listener.privateCloudDatabase
            var token: CKServerChangeToken?
            var names: Set<String> = []
            while names.count < 1_000, await heard.next() != nil {
                var isMore = true
                while isMore {
                    let page = try await listener.recordZoneChanges(
                        inZoneWith: servers.zone,
                        since: token
                    )
                    names.formUnion(page.modificationResultsByID.keys.map(\.recordName))
                    token = page.changeToken
                    isMore = page.moreComing
                }
            }
            try await saves.value
            #expect(names.count == 1_000)
        }
    }
}
