import Dispatch
import RecordModel
import StorageContract
import TestSupport
import Testing

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
            it.commitMeanwhile([save("new")], deletes: [id("old")])
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

extension EngineUnderTest {
    /// Has something committed, and returns when it is durable: for use within a job that reads.
    func commitMeanwhile(_ saves: [RecordSave], deletes: [RecordID] = []) {
        let operation = ModifyRecords(
            scope: .private,
            saves: saves,
            deletes: deletes,
            policy: .ifServerRecordUnchanged,
            isAtomic: true
        )
        let isDone = DispatchSemaphore(value: 0)
        self.store.write(self.request(.modifyRecords(operation))) { result in
            let outcomes = try? result.get()
            #expect(outcomes?.allSatisfy { $0.error == nil } == true)
            isDone.signal()
        }
        isDone.wait()
    }
}
