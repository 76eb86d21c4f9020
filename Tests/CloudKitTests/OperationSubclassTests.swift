import CloudKit
import Foundation
import Testing

// Subclasses in the shapes that published code has them in. None of them may need a word that
// Apple's SDK does not.

private class BlocksInInit: CKFetchRecordZonesOperation, @unchecked Sendable {
    var log: [String] = []

    override init() {
        super.init()
        self.fetchRecordZonesResultBlock = { [unowned self] _ in self.log.append("result") }
    }
}

private class InheritsInit: BlocksInInit, @unchecked Sendable {
    var note = "a default value"
}

private final class NothingOfItsOwn: CKFetchRecordsOperation, @unchecked Sendable {}

private final class OwnInitialiser: CKFetchRecordZonesOperation, @unchecked Sendable {
    let title: String
    var attempts: [Int]

    init(title: String, attempts: [Int]) {
        self.title = title
        self.attempts = attempts
        super.init()
    }
}

private final class CountsMain: CKModifyRecordsOperation, @unchecked Sendable {
    var mains = 0

    override func main() {
        self.mains += 1
        super.main()
    }
}

private final class WorksAlone: CKDatabaseOperation, @unchecked Sendable {
    var hasWorked = false

    override func main() { self.hasWorked = true }
}

private final class CallsMainTwice: CKModifyRecordsOperation, @unchecked Sendable {
    override func main() {
        super.main()
        super.main()
    }
}

@Suite(.timeLimit(.minutes(10))) struct OperationSubclassTests {
    @Test func `Self makes an instance of the subclass, of an operation and of a record`() {
        let operation = BlocksInInit.urgent()
        #expect(type(of: operation) == BlocksInInit.self && operation.qualityOfService == .userInitiated)
        #expect(operation.fetchRecordZonesResultBlock != nil)
        #expect(type(of: InheritsInit.urgent()) == InheritsInit.self)
        #expect(InheritsInit.urgent().note == "a default value")
        #expect(type(of: CKModifyRecordsOperation.urgent()) == CKModifyRecordsOperation.self)
        let person = Person.note("t")
        #expect(type(of: person) == Person.self && person["title"] == "t")
        #expect(CKSubscription.NotificationInfo.silent().shouldSendContentAvailable)
    }

    @Test func `a class factory makes an instance of the subclass with its own init`() {
        let operation = BlocksInInit.fetchAllRecordZonesOperation()
        #expect(type(of: operation) == BlocksInInit.self)
        #expect(operation.fetchRecordZonesResultBlock != nil)
        operation.fetchRecordZonesResultBlock?(.success(()))
        #expect(operation.log == ["result"])
    }

    @Test func `a class factory works where init is inherited, with the values of new properties`() {
        let operation = InheritsInit.fetchAllRecordZonesOperation()
        #expect(type(of: operation) == InheritsInit.self)
        #expect(operation.note == "a default value")
        #expect(operation.fetchRecordZonesResultBlock != nil)
        let fetch = NothingOfItsOwn.fetchCurrentUserRecordOperation()
        #expect(type(of: fetch) == NothingOfItsOwn.self)
    }

    @Test func `a class factory on the class itself makes one`() {
        #expect(
            type(of: CKFetchRecordZonesOperation.fetchAllRecordZonesOperation())
                == CKFetchRecordZonesOperation.self
        )
        #expect(
            type(of: CKFetchRecordsOperation.fetchCurrentUserRecordOperation())
                == CKFetchRecordsOperation.self
        )
    }

    @Test func `a subclass with an initialiser and stored properties of its own needs no init`() {
        let operation = OwnInitialiser(title: "title", attempts: [1, 2])
        #expect(operation.title == "title")
        #expect(operation.attempts == [1, 2])
        #expect(operation.recordZoneIDs == nil)
    }

    @Test func `a class factory on a subclass without init stops the process, as on Apple's systems`() async {
        await #expect(processExitsWith: .failure) {
            _ = OwnInitialiser.fetchAllRecordZonesOperation()
        }
    }

    @Test func `an overridden main sends the request by calling super`() async {
        let operation = CountsMain(recordsToSave: [.refused("one")])
        operation.database = CKContainer.unreachable().privateCloudDatabase
        let events = Events()
        operation.modifyRecordsResultBlock = { _ in events.note("result") }
        await operation.finish()
        #expect(operation.mains == 1)
        #expect(events.all == ["result"])
        #expect(operation.isFinished)
    }

    @Test func `an overridden main that does not call super finishes when it returns`() async {
        let operation = WorksAlone()
        await operation.finish()
        #expect(operation.hasWorked)
        #expect(operation.isFinished)
    }

    @Test func `a main that is called twice sends and reports once`() async {
        let operation = CallsMainTwice(recordsToSave: [.refused("one")])
        operation.database = CKContainer.unreachable().privateCloudDatabase
        let events = Events()
        operation.perRecordSaveBlock = { _, _ in events.note("item") }
        operation.modifyRecordsResultBlock = { _ in events.note("result") }
        await operation.finish()
        #expect(events.all == ["item", "result"])
    }
}
