import Foundation
import PostgreSQLCluster
import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

/// The round trips of each kind of request that comes alone: none may come back that was saved.
@Suite(.timeLimit(.minutes(10)))
struct RoundTripTests {
    private struct Round {
        let it: EngineUnderTest
        let number: Int
        /// What the preparation returned.
        var prepared = ""
    }

    private struct Kind: Sendable {
        let name: String
        /// Of the registry; `nil` for a sign-in.
        let operation: String?
        /// At best, and at most when the server looks after itself meanwhile.
        let roundTrips: ClosedRange<Int>
        /// Not counted.
        let prepare: @Sendable (Round) async throws -> String
        /// Returns whether the response is as expected.
        let request: @Sendable (Round) async throws -> Bool

        init(
            _ name: String,
            _ operation: String?,
            roundTrips: ClosedRange<Int>,
            prepare: @escaping @Sendable (Round) async throws -> String = { _ in "" },
            request: @escaping @Sendable (Round) async throws -> Bool
        ) {
            self.name = name
            self.operation = operation
            self.roundTrips = roundTrips
            self.prepare = prepare
            self.request = request
        }
    }

    /// Rounds at the least, and at the most: the first ones prepare statements, and once a second the
    /// server looks after itself, which a slow machine has in most requests.
    private static let rounds = 3...100
    private static let kinds = records + feeds + subscriptions + assets + sharing

    @Test
    func `each kind of request takes its round trips, and no more`() async throws {
        let directory = try TemporaryDirectory()
        let cluster = try PostgreSQLCluster.running()
        let proxy = try RoundTripProxy(to: cluster.folder, in: directory.path)
        defer { proxy.close() }
        let it = try await EngineUnderTest.withNotes(behind: proxy)
        for kind in Self.kinds {
            var roundTrips: [Int] = []
            for number in 0..<Self.rounds.upperBound {
                var round = Round(it: it, number: number)
                round.prepared = try await kind.prepare(round)
                _ = proxy.takeRoundTrips()
                let isAsExpected = try await kind.request(round)
                #expect(isAsExpected, "\(kind.name)")
                roundTrips.append(proxy.takeRoundTrips())
                if roundTrips.count >= Self.rounds.lowerBound, kind.roundTrips.contains(roundTrips.min() ?? 0)
                {
                    break
                }
            }
            #expect(kind.roundTrips.contains(roundTrips.min() ?? 0), "\(kind.name): \(roundTrips)")
        }
        await it.store.shutdown()
    }

    @Test func `no operation of the protocol is left out`() throws {
        struct Registry: Decodable {
            struct Operation: Decodable { var name: String }
            var operations: [Operation]
        }
        let text = try ProtocolFiles.text("registry.json")
        let registry = try JSONDecoder().decode(Registry.self, from: Data(text.utf8))
        #expect(Set(registry.operations.map(\.name)) == Set(Self.kinds.compactMap(\.operation)))
    }
}

// MARK: - Kinds

extension RoundTripTests {
    private static let records = [
        Kind("save", "modify_records", roundTrips: 3...3) { round in
            let fields = ["n": FieldValue.int64(Int64(round.number))]
            return try await round.it.modify([save("r\(round.number)", fields)]).areSaved
        },
        Kind("save of ten", "modify_records", roundTrips: 3...3) { round in
            let saves = (0..<10).map { save("ten \(round.number) \($0)", ["n": .int64(1)]) }
            return try await round.it.modify(saves).areSaved
        },
        Kind("change", "modify_records", roundTrips: 3...3) { round in
            let change = save("r1", ["n": .int64(Int64(1_000 + round.number))])
            return try await round.it.modify([change], policy: .allKeys).areSaved
        },
        Kind("delete", "modify_records", roundTrips: 4...4) { round in
            try await round.it.modify([], deletes: [id("ten \(round.number) 0")])[0].error == nil
        },
        Kind("fetch", "fetch_records", roundTrips: 1...1) { round in
            try await round.it.fetch([id("r1"), id("r2")]).count == 2
        },
        Kind("query", "query_records", roundTrips: 1...1) { round in
            let query = Query(recordType: "Note", predicate: NumberedNotes.equals("n", .int64(2)))
            return try await round.it.query(QueryRead(query: query, zone: notes)).records.count == 1
        },
        Kind("explanation", "explain_record", roundTrips: 12...12) { round in
            try await round.it.explanation(of: id("r1")).record.id == id("r1")
        },
        Kind("schema", "check_schema", roundTrips: 8...8) { round in
            let schema = try round.it.store.schemas.schema(
                ofContainer: EngineUnderTest.container,
                environment: .development
            )
            return !schema.recordTypes.isEmpty
        },
        Kind("sign-in", nil, roundTrips: 9...9) { round in
            try round.it.signIn(named: "alice").userRecordName == EngineUnderTest.alice
        },
    ]

    private static let feeds = [
        Kind("new zone", "modify_zones", roundTrips: 7...8) { round in
            try await round.it.modifyZones(["zone \(round.number)"])[0].error == nil
        },
        Kind("zones", "fetch_zones", roundTrips: 3...3) { round in
            try await round.it.zones().isEmpty == false
        },
        Kind("changes of a zone", "fetch_changes", roundTrips: 2...2) { round in
            try await round.it.changes(FeedRead(zone: notes, limit: 10)).items.count == 10
        },
        Kind("changes of a database", "fetch_database_changes", roundTrips: 2...2) { round in
            try await round.it.databaseChanges(DatabaseFeedRead()).items.count > 1
        },
        Kind("token", "fetch_token", roundTrips: 1...1) { round in
            try await round.it.token(of: notes).isEmpty == false
        },
    ]

    private static let subscriptions = [
        Kind("new subscription", "modify_subscriptions", roundTrips: 21...22) { round in
            try await round.it.modifySubscriptions([query("s\(round.number)", type: "T\(round.number)")])[0]
                .error == nil
        },
        Kind("subscriptions", "fetch_subscriptions", roundTrips: 2...2) { round in
            try await round.it.subscriptions().count >= Self.rounds.lowerBound
        },
        Kind("begin of listening", "listen", roundTrips: 15...23) { round in
            try await round.it.startWatching().subscriptions.count >= Self.rounds.lowerBound
        },
        Kind(
            "deleted subscription",
            "modify_subscriptions",
            roundTrips: 8...9,
            prepare: { round in
                let saved = query("d\(round.number)", type: "D\(round.number)")
                _ = try await round.it.modifySubscriptions([saved])
                return saved.id
            }
        ) { round in
            try await round.it.modifySubscriptions([], deletes: [round.prepared])[0].error == nil
        },
    ]

    private static let assets = [
        Kind("begun upload", "upload_assets", roundTrips: 7...8) { round in
            try await round.it.begin([file(round.number)])[0].number != nil
        },
        Kind("complete upload", "upload_assets", roundTrips: 4...5) { round in
            let begun = try await round.it.begin([file(round.number)])[0]
            return "\(begun.number?.rawValue ?? 0)"
        } request: { round in
            try await round.it.complete(AssetNumber(rawValue: Int64(round.prepared) ?? 0))
            return true
        },
        Kind("begun download", "download_assets", roundTrips: 2...2) { round in
            guard round.number == 0 else { return "" }
            let saved = try await round.it.modify([save("photo", ["f": .asset(file(1))])])
            return "\(saved)"
        } request: { round in
            try await round.it.locate([file(1)], of: id("photo")).count == 1
        },
    ]

    private static let sharing = [
        Kind("new share", "modify_records", roundTrips: 14...15) { round in
            let root = "shared \(round.number)"
            let share = saveOfShare("share of \(root)", ShareChanges(root: root))
            return try await round.it.modify([share, save(root)], policy: .changedKeys).areSaved
        },
        Kind("accepted share", "accept_shares", roundTrips: 40...44) { round in
            try await round.it.share("root \(round.number)", named: "share \(round.number)").token
        } request: { round in
            let outcome = try await round.it.accept(round.prepared, by: round.it.bobShared)
            guard case .shareAccepted = outcome else { return false }
            return true
        },
        Kind("save of a participant", "modify_records", roundTrips: 12...15) { round in
            let change = sharedSave("root 1", ["n": .int64(Int64(round.number))])
            return try await round.it.modify([change], policy: .allKeys, by: round.it.bobShared).areSaved
        },
        Kind("fetch of a participant", "fetch_records", roundTrips: 3...4) { round in
            try await round.it.record(sharedID("root 1"), by: round.it.bobShared) != nil
        },
        Kind("metadata of a share", "fetch_share_metadata", roundTrips: 6...6) { round in
            try await round.it.share(named: "share \(round.number)")?.token ?? ""
        } request: { round in
            let found = try await round.it.metadata(round.prepared, by: round.it.bobShared)
            guard case .shareMetadata = found else { return false }
            return true
        },
        Kind("people to invite", "fetch_share_participants", roundTrips: 2...2) { round in
            let lookup = IdentityLookup.userRecordName(EngineUnderTest.bob)
            let result = await withCheckedContinuation { continuation in
                round.it.store.fetchShareParticipants([lookup], for: round.it.privately) {
                    continuation.resume(returning: $0)
                }
            }
            guard case .identity = try result.get()[0] else { return false }
            return true
        },
        Kind("request for access", "request_share_access", roundTrips: 18...19) { round in
            let name = "closed \(round.number)"
            let share = try await round.it.share(name, named: "share of \(name)") {
                $0.allowsAccessRequests = true
            }
            return share.token
        } request: { round in
            let request = RequestShareAccess(tokens: [round.prepared])
            let result = await round.it.write(.requestShareAccess(request), by: round.it.bobShared)
            return try result.get()[0] == .done
        },
    ]
}
