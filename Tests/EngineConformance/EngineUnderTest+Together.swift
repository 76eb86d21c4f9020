import Dispatch
import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

extension EngineUnderTest {
    /// Sends requests while the writer is held, so that one transaction takes them all.
    func together(
        _ requests: [[RecordSave]],
        policy: ModifyRecords.Policy = .ifServerRecordUnchanged
    ) async -> [Result<[WriteOutcome], StoreError>] {
        await self.together(
            requests.map {
                self.request(.modifyRecords(ModifyRecords(scope: .private, saves: $0, policy: policy)))
            }
        )
    }

    /// The same of requests of any kind, by anybody.
    func together(_ requests: [WriteRequest]) async -> [Result<[WriteOutcome], StoreError>] {
        let gate = Gate()
        let held = Gate()
        self.send([save("holds the writer", in: .default)]) { _ in
            held.open()
            gate.wait()
        }
        held.wait()
        let outcomes = Mutex<[Int: Result<[WriteOutcome], StoreError>]>([:])
        await withCheckedContinuation { continuation in
            for (number, request) in requests.enumerated() {
                self.store.write(request) { result in
                    let isLast = outcomes.withLock { outcomes in
                        outcomes[number] = result
                        return outcomes.count == requests.count
                    }
                    if isLast { continuation.resume() }
                }
            }
            gate.open()
        }
        return outcomes.withLock { known in requests.indices.map { known[$0]! } }
    }
}

/// Has something committed, and returns when it is durable: for use within a job that reads.
func commitMeanwhile(_ saves: [RecordSave], deletes: [RecordID] = [], in it: EngineUnderTest) {
    let operation = ModifyRecords(
        scope: .private,
        saves: saves,
        deletes: deletes,
        policy: .ifServerRecordUnchanged,
        isAtomic: true
    )
    let isDone = DispatchSemaphore(value: 0)
    it.store.write(it.request(.modifyRecords(operation))) { result in
        let outcomes = try? result.get()
        #expect(outcomes?.allSatisfy { $0.error == nil } == true)
        isDone.signal()
    }
    isDone.wait()
}
