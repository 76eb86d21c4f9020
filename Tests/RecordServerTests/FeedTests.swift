import Crypto
import NIOCore
import RecordModel
import RecordStore
import SQLiteEngine
import TestSupport
import Testing
import WireProtocol

/// Feeds and their tokens over TLS.
@Suite(.timeLimit(.minutes(10)))
struct FeedTests {
    private static let zone = ServerUnderTest.zone

    private static func changes(
        _ token: [UInt8] = [],
        scope: DatabaseScope = .private,
        zone: ZoneID = Self.zone,
        limit: UInt32 = 0
    ) -> Operation {
        .fetchChanges(FetchChanges(scope: scope, zone: zone, token: token, limit: limit))
    }

    /// One request after the other on one connection.
    final class Conversation {
        let peer: TestPeer
        private var stream: UInt32 = 1

        init(_ peer: TestPeer) { self.peer = peer }

        func ask(_ operation: Operation) async throws -> (items: [Item], end: End) {
            defer { self.stream += 2 }
            try await self.peer.send(operation, on: self.stream)
            return try await self.peer.answer(on: self.stream)
        }

        func token(scope: DatabaseScope = .private, zone: ZoneID?) async throws -> [UInt8] {
            try await self.ask(.fetchToken(FetchToken(scope: scope, zone: zone))).end.token
        }
    }

    private static func names(_ items: [Item]) throws -> [String] {
        try items.map { item in
            switch item.outcome {
            case .record(let message): try message.record().id.recordName
            case .recordDeleted(let deleted): "-" + deleted.id.recordName + " " + deleted.recordType
            case .zoneChanged(let zone): zone.zoneName
            case .zoneDeleted(let zone): "-" + zone.zoneName
            default: "?"
            }
        }
    }

    @Test func `items of a page fill frames, and a large one has a frame of its own`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 5, bytes: 30_000)
            let peer = try await server.signIn()
            try await peer.send(.save(["large"], bytes: 100_000), on: 1)
            _ = try await peer.answer(on: 1)
            try await peer.send(.save(["last"], bytes: 10), on: 3)
            _ = try await peer.answer(on: 3)
            try await peer.send(Self.changes(), on: 5)
            var frames: [[String]] = []
            var numbers: [UInt32] = []
            while let frame = await peer.next(), frame.kind == .items {
                let items = try Items(decoding: frame.payload).items
                #expect(frame.payload.readableBytes <= 64 * 1_024 || items.count == 1)
                frames.append(try Self.names(items))
                numbers += items.map(\.index)
            }
            #expect(frames == [["0", "1"], ["2", "3"], ["4"], ["large"], ["last"]])
            #expect(numbers == Array(0..<7))
        }
    }

    @Test func `a client follows a zone page by page, and a deletion comes with its type`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 3, bytes: 10)
            let it = Conversation(try await server.signIn())
            let first = try await it.ask(Self.changes(limit: 2))
            #expect(try Self.names(first.items) == ["0", "1"])
            #expect(first.items.map(\.index) == [0, 1])
            #expect(first.end.moreComing)
            #expect(first.end.totals?.records == 3)
            let second = try await it.ask(Self.changes(first.end.token, limit: 2))
            #expect(try Self.names(second.items) == ["2"])
            #expect(!second.end.moreComing)
            let delete = ModifyRecords(
                scope: .private,
                saves: [],
                deletes: [RecordID(zone: Self.zone, recordName: "1")]
            )
            _ = try await it.ask(.modifyRecords(delete))
            let third = try await it.ask(Self.changes(second.end.token))
            #expect(try Self.names(third.items) == ["-1 Note"])
            #expect(third.end.totals == nil)
        }
    }

    @Test func `a page has 200 items unless it is told, and never more than 1,000`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            let it = Conversation(try await server.signIn())
            for first in stride(from: 0, to: 1_200, by: 400) {
                _ = try await it.ask(.save((first..<first + 400).map { "\($0)" }))
            }
            #expect(try await it.ask(Self.changes()).items.count == 200)
            #expect(try await it.ask(Self.changes(limit: 1_000)).items.count == 1_000)
            #expect(try await it.ask(Self.changes(limit: 1_001)).items.count == 1_000)
            #expect(try await it.ask(Self.changes(limit: .max)).items.count == 1_000)
        }
    }

    @Test func `the token for now and a database's feed say what comes after them`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 1, bytes: 10)
            let it = Conversation(try await server.signIn())
            let zone = try await it.token(zone: Self.zone)
            let database = try await it.token(zone: nil)
            _ = try await it.ask(.save(["late"]))
            #expect(try Self.names(try await it.ask(Self.changes(zone)).items) == ["late"])
            let feed = FetchDatabaseChanges(scope: .private, token: database)
            #expect(
                try Self.names(try await it.ask(.fetchDatabaseChanges(feed)).items) == [Self.zone.zoneName]
            )
            let missing = ZoneID(zoneName: "missing")
            let failure = try await it.ask(.fetchToken(FetchToken(scope: .private, zone: missing))).end
                .failure
            #expect(failure?.code == .zoneNotFound)
            #expect(try await it.ask(Self.changes(scope: .shared)).end.failure?.code == .zoneNotFound)
        }
    }

    @Test func `a token that is forged, cut, or of another zone, database or user has expired`() async throws
    {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 1, bytes: 10)
            try server.store.directory.addUser(
                named: "bob",
                userRecordName: "_00000000000000000000000000000b0b",
                tokenHash: Array(SHA256.hash(data: Array("bob's token".utf8))),
                toContainer: ServerUnderTest.container
            )
            let it = Conversation(try await server.signIn())
            let bob = Conversation(try await server.signIn(token: "bob's token"))
            let token = try await it.token(zone: Self.zone)
            #expect(token.count <= Bounds.tokenBytesMax)
            var others = [
                try await it.token(zone: .default), try await it.token(zone: nil),
                try await it.token(scope: .public, zone: .default), try await bob.token(zone: .default),
                token + [0], Array(token.dropLast()), Array(token.prefix(32)), Array(token.prefix(1)),
                [UInt8](repeating: 0, count: Bounds.tokenBytesMax + 1),
            ]
            for place in token.indices {
                var forged = token
                forged[place] ^= 1
                others.append(forged)
            }
            for other in others {
                let failure = try await it.ask(Self.changes(other)).end.failure
                #expect(failure?.code == .changeTokenExpired)
            }
            #expect(
                try await it.ask(Self.changes(others[0])).end.failure?.message
                    == "client knowledge differs from server knowledge"
            )
            // The same database and zone, but somebody else's token.
            let open = try await it.token(scope: .public, zone: .default)
            let stolen = try await bob.ask(Self.changes(open, scope: .public, zone: .default)).end.failure
            #expect(stolen?.code == .changeTokenExpired)
            let database = FetchDatabaseChanges(scope: .private, token: token)
            #expect(
                try await it.ask(.fetchDatabaseChanges(database)).end.failure?.code == .changeTokenExpired
            )
            #expect(try await it.ask(Self.changes(token)).end.failure == nil)
        }
    }

    @Test func `a token of another server, or a cursor, has expired`() async throws {
        try await ServerUnderTest.run { one in
            try await one.fill(records: 3, bytes: 10)
            let it = Conversation(try await one.signIn())
            let token = try await it.token(zone: Self.zone)
            let query = QueryRecords(
                scope: .private,
                start: .query(Query(recordType: "Note"), zone: Self.zone),
                limit: 1
            )
            let cursor = try await it.ask(.queryRecords(query)).end.cursor
            #expect(!cursor.isEmpty)
            #expect(try await it.ask(Self.changes(cursor)).end.failure?.code == .changeTokenExpired)
            let resumed = QueryRecords(scope: .private, start: .cursor(token))
            #expect(try await it.ask(.queryRecords(resumed)).end.failure?.code == .invalidArguments)
            try await ServerUnderTest.run { two in
                try await two.fill(records: 3, bytes: 10)
                let other = Conversation(try await two.signIn())
                #expect(try await other.ask(Self.changes(token)).end.failure?.code == .changeTokenExpired)
            }
        }
    }
}
