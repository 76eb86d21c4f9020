import RecordModel
import Testing
import WireProtocol

/// A name that breaks its rule is code 12 whatever is asked of it: nothing has it, and nothing ever will.
///
/// - Source: `Protocol/README.md`, section 2.
@Suite(.timeLimit(.minutes(10)))
struct InvalidNameTests {
    private static let names = [
        "", "_x", "a\u{7F}", "line\nbreak", String(repeating: "n", count: 256),
    ]

    private static func zoned(_ id: ZoneID) -> [Operation] {
        let save = RecordSave(
            id: RecordID(zone: id, recordName: "a"),
            recordType: "Note",
            changes: RecordBody([])
        )
        return [
            .modifyRecords(ModifyRecords(scope: .private, saves: [save])),
            .modifyRecords(ModifyRecords(scope: .private, saves: [], deletes: [save.id])),
            .fetchRecords(FetchRecords(scope: .private, ids: [save.id])),
            .explainRecord(ExplainRecord(scope: .private, id: save.id)),
            .modifyZones(ModifyZones(scope: .private, saves: [id])),
            .modifyZones(ModifyZones(scope: .private, saves: [], deletes: [id])),
            .fetchZones(FetchZones(scope: .private, selection: .ids([id]))),
            .queryRecords(QueryRecords(scope: .private, start: .query(Query(recordType: "Note"), zone: id))),
            .fetchChanges(FetchChanges(scope: .private, zone: id)),
            .fetchToken(FetchToken(scope: .private, zone: id)),
            .modifySubscriptions(
                ModifySubscriptions(
                    scope: .private,
                    saves: [Subscription(id: "s", kind: .zone(id, recordType: nil))]
                )
            ),
            .downloadAssets(
                DownloadAssets(
                    scope: .private,
                    record: save.id,
                    ranges: [AssetRange(sha256: Array(repeating: 1, count: 32))]
                )
            ),
            .uploadAssets(
                UploadAssets(
                    scope: .shared,
                    assets: [Asset(sha256: Array(repeating: 1, count: 32), size: 1)],
                    zone: ZoneID(zoneName: id.zoneName, ownerName: "_" + String(repeating: "0", count: 32))
                )
            ),
        ]
    }

    private static func named(_ name: String) -> [Operation] {
        let id = RecordID(zone: ServerUnderTest.zone, recordName: name)
        return [
            .save([name]),
            .modifyRecords(ModifyRecords(scope: .private, saves: [], deletes: [id])),
            .fetch([name]),
            .explainRecord(ExplainRecord(scope: .private, id: id)),
            .download([AssetRange(sha256: Array(repeating: 1, count: 32))], of: name),
        ]
    }

    @Test func `names of zones and records that break their rule are invalid in every operation`()
        async throws
    {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            let peer = try await server.signIn()
            var stream: UInt32 = 1
            // Names of records may have any characters but those that control.
            let zones = (Self.names + ["Größe"]).flatMap { Self.zoned(ZoneID(zoneName: $0)) }
            for operations in [zones, Self.names.flatMap { Self.named($0) }] {
                for operation in operations {
                    try await peer.send(operation, on: stream)
                    let answer = try await peer.answer(on: stream)
                    #expect(Self.failure(answer)?.code == .invalidArguments, "\(operation)")
                    stream += 2
                }
            }
        }
    }

    @Test func `names that nothing has are absent as before`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            let peer = try await server.signIn()
            let nobody = "_" + String(repeating: "0", count: 32)
            for (stream, name) in [(1, " ~"), (3, String(repeating: "n", count: 255)), (5, nobody)] {
                try await peer.send(.fetch([name]), on: UInt32(stream))
                let answer = try await peer.answer(on: UInt32(stream))
                #expect(Self.failure(answer)?.code == .unknownItem, "\(name)")
            }
            let absent = ZoneID(zoneName: String(repeating: "z", count: 255))
            try await peer.send(.fetchChanges(FetchChanges(scope: .private, zone: absent)), on: 7)
            #expect(Self.failure(try await peer.answer(on: 7))?.code == .zoneNotFound)
        }
    }

    private static func failure(_ answer: (items: [Item], end: End)) -> Failure? {
        if let failure = answer.end.failure { return failure }
        guard case .failure(let failure)? = answer.items.first?.outcome else { return nil }
        return failure
    }
}
