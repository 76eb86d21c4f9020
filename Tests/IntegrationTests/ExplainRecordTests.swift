import CloudKit
import Foundation
import TestSupport
import Testing

/// Explanations of a record: for machines of alice, for bob who takes part, and for an operator.
@Suite(.timeLimit(.minutes(10)))
struct ExplainRecordTests {
    private static let container = "iCloud.a"

    /// A user's token, and connections of as many installations as are wanted.
    private struct Account {
        let connection: CKServerConnection

        func container(_ installation: String) -> CKContainer {
            var connection = self.connection
            connection.installationName = installation
            return CKContainer(identifier: ExplainRecordTests.container, connection: connection)
        }
    }

    /// A server with the users test and bob.
    private struct Scene {
        let data: String
        let server: ServerUnderTest
        let alice: Account
        let bob: Account
    }

    private static func run(_ body: (Scene) async throws -> Void) async throws {
        let folder = try TemporaryDirectory()
        let data = folder.path + "/data"
        let server = try await ServerUnderTest.start(data: data)
        defer { server.process.signal(SIGKILL) }
        let token = try await ServerUnderTest.addUser(container: self.container, data: data)
        let added = try await ChildProcess.tidemark(
            "user",
            "add",
            "bob",
            "--container",
            self.container,
            "--data",
            data
        )
        try #require(added.exitCode == 0)
        func account(_ token: String) -> Account {
            Account(
                connection: CKServerConnection(
                    url: "tidemark://\(server.address)",
                    token: token,
                    certificateAuthority: .file(server.authorityPath)
                )
            )
        }
        let scene = Scene(
            data: data,
            server: server,
            alice: account(token),
            bob: account(String(added.output.dropLast()))
        )
        try await body(scene)
    }

    /// Fetches all changes after a token, and returns the last token.
    @discardableResult
    private static func follow(
        _ zone: CKRecordZone.ID,
        in database: CKDatabase,
        after token: CKServerChangeToken? = nil
    ) async throws -> CKServerChangeToken {
        let page = try await database.recordZoneChanges(inZoneWith: zone, since: token)
        #expect(!page.moreComing)
        return page.changeToken
    }

    private static func explain(_ scene: Scene, _ arguments: [String]) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ChildProcess.tidemark,
            ["explain-record", "--container", self.container, "--data", scene.data] + arguments
        )
    }

    private static func note(_ name: String, in zone: CKRecordZone.ID) -> CKRecord {
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone))
    }

    @Test
    func `one installation has a record, one is behind, one never came, and one user may not read it`()
        async throws
    {
        try await Self.run { scene in
            let desk = scene.alice.container("desk").privateCloudDatabase
            let phone = scene.alice.container("phone").privateCloudDatabase
            let attic = scene.alice.container("attic").privateCloudDatabase
            let zone = try await desk.save(CKRecordZone(zoneName: "Notes")).zoneID
            try await desk.save(CKRecordZoneSubscription(zoneID: zone, subscriptionID: "notes"))
            try await desk.save(
                CKQuerySubscription(
                    recordType: "Task",
                    predicate: NSPredicate(value: true),
                    subscriptionID: "tasks",
                    options: .firesOnRecordUpdate
                )
            )
            try await desk.save(Self.note("first", in: zone))
            try await Self.follow(zone, in: phone)
            // Known from another zone.
            let other = try await attic.save(CKRecordZone(zoneName: "Other")).zoneID
            try await Self.follow(other, in: attic)
            let note = try await desk.save(Self.note("note", in: zone))
            let share = CKShare(rootRecord: note)
            _ = try await desk.modifyRecords(saving: [note, share], deleting: [])
            let token = try await Self.follow(zone, in: desk)
            try await Self.follow(zone, in: desk, after: token)

            let own = try await desk.explanation(of: note.recordID)
            #expect(own.recordType == "Note" && own.recordID == note.recordID && !own.isTruncated)
            #expect(own.access.first?.mayWrite == true)
            #expect(own.installations.map(\.state) == [.hasIt, .isBehind(changes: 2), .neverCame])
            #expect(Set(own.installations.compactMap(\.id)).count == 3)
            #expect(own.installations.map { $0.lastSeen != nil } == [true, true, false])
            let fires = own.subscriptions.map { "\($0.subscriptionID) \($0.fires)" }
            #expect(fires == ["notes true", "tasks false"])
            try await Self.checkParticipant(scene, note: note.recordID, share: share.recordID)
            try await Self.checkCommand(scene, zone: zone)
        }
    }

    /// Explanations for alice and bob, before and after bob joins the share of a note.
    private static func checkParticipant(
        _ scene: Scene,
        note: CKRecord.ID,
        share: CKRecord.ID
    ) async throws {
        let desk = scene.alice.container("desk").privateCloudDatabase
        // Bob is invited, and may read nothing yet.
        let shared = scene.bob.container("laptop")
        let stored = try #require(try await desk.record(for: share) as? CKShare)
        let person = try await scene.alice.container("desk").shareParticipant(
            forUserRecordID: shared.userRecordID()
        )
        stored.addParticipant(person)
        try await desk.save(stored)
        let invited = try await desk.explanation(of: note).installations.last
        #expect(invited?.state == .mayNotRead && invited?.reason.contains("invited") == true)
        let seen = CKRecord.ID(recordName: "note", zoneID: note.zoneID)
        let early = await thrown { _ = try await shared.sharedCloudDatabase.explanation(of: seen) }
        #expect(early?.code == .zoneNotFound)

        let metadata = try await shared.shareMetadata(for: try #require(stored.url))
        _ = try await shared.accept(metadata)
        let bobs = try #require(try await shared.sharedCloudDatabase.allRecordZones().first).zoneID
        let first = try await Self.follow(bobs, in: shared.sharedCloudDatabase)
        try await Self.follow(bobs, in: shared.sharedCloudDatabase, after: first)
        let his = try await shared.sharedCloudDatabase.explanation(
            of: CKRecord.ID(recordName: "note", zoneID: bobs)
        )
        #expect(his.installations.map(\.state) == [.hasIt])
        #expect(his.access.count == 1 && his.access.first?.mayRead == true)
        let hidden = await thrown {
            _ = try await shared.sharedCloudDatabase.explanation(
                of: CKRecord.ID(recordName: "first", zoneID: bobs)
            )
        }
        #expect(hidden?.code == .unknownItem)
    }

    /// The same for an operator, once it is written.
    private static func checkCommand(_ scene: Scene, zone: CKRecordZone.ID) async throws {
        let place = ["note", "--as", "test", "--zone", zone.zoneName]
        var text = ""
        repeat {
            let shown = try await self.explain(scene, place)
            #expect(shown.exitCode == 0, "\(shown.errors)")
            text = shown.output
        } while text.components(separatedBy: "has it").count < 3
        for expected in [
            "of type Note", "owns the private database", "is 2 changes behind", "never fetched the zone",
            "It is about records of type 'Task'", "Every change there fires it",
        ] {
            #expect(text.contains(expected), "\(expected) in \(text)")
        }
        let json = try await self.explain(scene, place + ["--json"])
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        )
        let rows = try #require(object["installations"] as? [[String: Any]])
        #expect(rows.compactMap { $0["state"] as? String } == ["hasIt", "isBehind", "neverCame", "hasIt"])
        #expect(object["recordType"] as? String == "Note")

        let refusals: [([String], Int32, String)] = [
            (["absent", "--as", "test", "--zone", "Notes"], 65, "no record absent"),
            (["note", "--as", "test", "--zone", "Nowhere"], 65, "Nowhere of the private database of test."),
            (["note"], 65, "of the public database. For a record in a private database name its owner"),
            (["note", "--as", "nobody"], 65, "nobody"),
            ([], 64, "record"),
        ]
        for (arguments, code, text) in refusals {
            let outcome = try await self.explain(scene, arguments)
            #expect(outcome.exitCode == code, "\(arguments): \(outcome.errors)")
            #expect(outcome.errors.contains(text), "\(arguments): \(outcome.errors)")
        }
    }

    @Test
    func `nobody is told of others in the public database, and a stranger of nothing`() async throws {
        try await Self.run { scene in
            let alice = scene.alice.container("desk").publicCloudDatabase
            let bob = scene.bob.container("laptop").publicCloudDatabase
            let record = try await alice.save(Self.note("news", in: .default))
            for database in [alice, bob] {
                let token = try await Self.follow(.default, in: database)
                try await Self.follow(.default, in: database, after: token)
            }
            for database in [alice, bob] {
                let found = try await database.explanation(of: record.recordID)
                #expect(found.installations.map(\.state) == [.hasIt])
                #expect(found.access.map(\.mayWrite) == [database === alice])
            }
            var nobody = scene.alice.connection
            nobody.token = nil
            let stranger = CKContainer(identifier: Self.container, connection: nobody).publicCloudDatabase
            let refused = await thrown { _ = try await stranger.explanation(of: record.recordID) }
            #expect(refused?.code == .notAuthenticated)
        }
    }

    @Test
    func `a read-only key of a service reads, and is told which key may not write`() async throws {
        try await Self.run { scene in
            let database = scene.alice.container("desk").publicCloudDatabase
            let record = try await database.save(Self.note("news", in: .default))
            func key(_ arguments: String...) async throws -> ChildProcess.Outcome {
                try await ChildProcess.run(
                    ChildProcess.tidemark,
                    ["key"] + arguments + ["--container", Self.container, "--data", scene.data]
                )
            }
            // While the server runs: a key counts at once.
            let added = try await key("add", "report", "--read-only")
            #expect(added.exitCode == 0 && added.errors.contains("read-only key"))
            var connection = scene.alice.connection
            connection.token = nil
            connection.serviceKey = .init(.pem(added.output))
            let service = CKContainer(identifier: Self.container, connection: connection).publicCloudDatabase
            #expect(try await service.record(for: record.recordID).recordID == record.recordID)
            let refused = await thrown { try await service.save(Self.note("other", in: .default)) }
            #expect(refused?.code == .permissionFailure)
            let listed = try await key("list", "--json")
            let rows = try #require(
                try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: Any]]
            )
            #expect(rows.map { $0["readOnly"] as? Bool } == [true])
            let id = try #require(rows.first?["keyID"] as? String)
            #expect(refused?.localizedDescription.contains(id) == true, "\(refused as Any)")
            let table = try await key("list")
            #expect(table.output.contains("MAY") && table.output.contains("read  "))
        }
    }
}
