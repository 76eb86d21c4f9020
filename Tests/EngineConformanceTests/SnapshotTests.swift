import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// All that a job reads is of one moment, whatever is committed meanwhile.
@Suite(.timeLimit(.minutes(10)))
struct SnapshotTests {
    @Test(arguments: EngineKind.allCases)
    func `a commit between two reads of a snapshot is seen by the next snapshot`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("old")])
        let during = try await it.snapshot { (snapshot) throws(StorageFailure) in
            let before = try Self.records(of: it, in: snapshot)
            commitMeanwhile([save("new")], deletes: [id("old")], in: it)
            return [before, try Self.records(of: it, in: snapshot)]
        }
        #expect(during == [["old"], ["old"]])
        let afterwards = try await it.snapshot { (snapshot) throws(StorageFailure) in
            try Self.records(of: it, in: snapshot)
        }
        #expect(afterwards == ["new"])
    }

    private static func records(
        of it: EngineUnderTest,
        in snapshot: any Snapshot
    ) throws(StorageFailure) -> [String] {
        guard let zone = try snapshot.zone(named: "notes", in: it.privately.database) else { return [] }
        var found: [String] = []
        for name in ["old", "new"] where try snapshot.record(named: name, in: zone) != nil {
            found.append(name)
        }
        return found
    }
}
