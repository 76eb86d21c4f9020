import CloudKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct OperationLifeTests {
    private let container = CKContainer.unreachable()

    @Test func `an operation goes from ready over executing to finished`() async {
        let operation = CKModifyRecordsOperation(recordsToSave: [.refused("one")])
        operation.database = self.container.privateCloudDatabase
        #expect(
            operation.isReady && !operation.isExecuting && !operation.isFinished && operation.isAsynchronous
        )
        let events = Events()
        operation.modifyRecordsResultBlock = { [unowned operation] _ in
            events.note("executing \(operation.isExecuting), finished \(operation.isFinished)")
        }
        await operation.finish()
        #expect(events.all == ["executing true, finished false"])
        #expect(operation.isFinished && !operation.isExecuting && !operation.isCancelled)
    }

    @Test func `an operation cancelled before its start reports that, once, and finishes`() async {
        let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "one")])
        operation.database = self.container.privateCloudDatabase
        let events = Events()
        operation.perRecordResultBlock = { _, _ in events.note("item") }
        operation.fetchRecordsResultBlock = { result in
            guard case .failure(CKError.operationCancelled) = result else {
                return events.note("wrong \(result)")
            }
            events.note("result")
        }
        operation.fetchRecordsCompletionBlock = { records, error in
            events.note(
                "completion \(String(describing: records)) \((error as? CKError)?.code.rawValue ?? 0)"
            )
        }
        operation.cancel()
        await operation.finish()
        #expect(events.all == ["result", "completion nil 20"])
        #expect(operation.isFinished && operation.isCancelled)
    }

    @Test func `an operation cancelled in flight ends with operationCancelled`() async throws {
        let port = try SilentPort()
        defer { withExtendedLifetime(port) {} }
        let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        operation.database = port.container.privateCloudDatabase
        let events = Events()
        operation.fetchRecordZonesResultBlock = { result in
            guard case .failure(CKError.operationCancelled) = result else {
                return events.note("wrong \(result)")
            }
            events.note("cancelled")
        }
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            operation.start()
            #expect(operation.isExecuting)
            operation.cancel()
        }
        #expect(events.all == ["cancelled"])
        #expect(operation.isFinished)
    }

    @Test func `an operation waits for one it depends on, in another queue`() async {
        let first = CKModifyRecordsOperation(recordsToSave: [.refused("one")])
        let second = CKModifyRecordsOperation(recordsToSave: [.refused("two")])
        let events = Events()
        first.modifyRecordsResultBlock = { _ in events.note("first") }
        second.modifyRecordsResultBlock = { _ in events.note("second") }
        first.database = self.container.privateCloudDatabase
        second.database = self.container.privateCloudDatabase
        second.addDependency(first)
        let secondQueue = OperationQueue()
        secondQueue.addOperation(second)
        #expect(!second.isReady)
        await withCheckedContinuation { continuation in
            let last = BlockOperation { continuation.resume() }
            last.addDependency(second)
            secondQueue.addOperation(last)
            self.container.privateCloudDatabase.add(first)
        }
        #expect(events.all == ["first", "second"])
    }

    @Test func `a second start does nothing`() async {
        let operation = CKModifyRecordsOperation()
        operation.database = self.container.privateCloudDatabase
        let events = Events()
        operation.modifyRecordsResultBlock = { _ in events.note("result") }
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            operation.start()
            operation.start()
        }
        operation.start()
        #expect(events.all == ["result"])
    }

    @Test func `the blocks of a finished operation are let go`() async {
        let operation = CKModifyRecordsOperation()
        operation.database = self.container.privateCloudDatabase
        operation.modifyRecordsResultBlock = { _ in _ = operation.isFinished }
        await operation.finish()
        #expect(operation.modifyRecordsResultBlock == nil)
    }

    @Test func `callbacks run one at a time, never on the caller's thread, and may block`() async {
        let outer = CKModifyRecordsOperation(recordsToSave: [.refused("one"), .refused("two")])
        outer.database = self.container.privateCloudDatabase
        outer.isAtomic = false
        let events = Events()
        let database = self.container.privateCloudDatabase
        outer.perRecordSaveBlock = { id, _ in
            events.note("begin \(id.recordName)")
            // Published code waits for one operation inside a callback of another.
            let inner = CKModifyRecordsOperation()
            database.add(inner)
            inner.waitUntilFinished()
            events.note("end \(id.recordName)")
        }
        await outer.finish()
        #expect(events.all == ["begin one", "end one", "begin two", "end two"])
    }

    @Test func `a server that cannot be reached is a networkFailure after the request's time`() async {
        let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "one")])
        operation.database = self.container.privateCloudDatabase
        operation.configuration.timeoutIntervalForRequest = 0.3
        let events = Events()
        operation.fetchRecordsResultBlock = { result in
            guard case .failure(CKError.networkFailure) = result else {
                return events.note("wrong \(result)")
            }
            events.note("networkFailure")
        }
        await operation.finish()
        #expect(events.all == ["networkFailure"])
    }
}
