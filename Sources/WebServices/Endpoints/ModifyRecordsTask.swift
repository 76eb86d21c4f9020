import RecordJSON
import RecordModel
import RecordServer
import StorageContract
import WireProtocol

/// `records/modify`: all changes in one request of the store, then the saved records as they are.
///
/// The records are read after the change. One that another client has changed in between comes as it is by
/// then, with the tag that it has.
struct ModifyRecordsTask: WebTask {
    private enum Stage {
        case change
        case read([Int])
        case done(WebStep)
    }

    private let operations: [RecordOperation]
    private let modify: ModifyRecords
    /// The operations that the store gets, in its order: saves, then deletes.
    private let executed: [Int]
    private let form: WebForm
    private let desiredKeys: [String]?
    private var answers: [[UInt8]]
    private var stage = Stage.change

    init(_ request: WebRequest) throws(WebInputError) {
        var operations: [RecordOperation] = []
        for (number, node) in try request.list("operations").enumerated() {
            operations.append(try RecordOperation(node, number: number, request))
        }
        self.operations = operations
        self.form = try request.form()
        self.desiredKeys = try request.root.strings("desiredKeys")
        let isAtomic = try request.root.bool("atomic") ?? true
        let refused = Self.refused(operations, isAtomic: isAtomic)
        var answers = [[UInt8]](repeating: [], count: operations.count)
        for (number, failure) in refused {
            answers[number] = failure.item(self.form) {
                $0.member("recordName", operations[number].id.recordName)
            }
        }
        self.answers = answers
        var (saves, deletes): ([(Int, RecordSave)], [(Int, RecordID)]) = ([], [])
        var tags: [Int: String] = [:]
        for (number, operation) in operations.enumerated() where refused[number] == nil {
            switch operation.change {
            case .save(let save): saves.append((number, save))
            case .delete(let tag):
                tags[deletes.count] = tag
                deletes.append((number, operation.id))
            case .refused: break
            }
        }
        var modify = ModifyRecords(
            scope: request.scope,
            saves: saves.map(\.1),
            deletes: deletes.map(\.1),
            isAtomic: isAtomic
        )
        modify.deleteTags = tags
        self.modify = modify
        self.executed = saves.map(\.0) + deletes.map(\.0)
    }

    /// The operations that the store does not get: those that cannot be executed, and in an atomic zone
    /// their peers.
    private static func refused(_ operations: [RecordOperation], isAtomic: Bool) -> [Int: WebFailure] {
        var refused: [Int: WebFailure] = [:]
        var zones: Set<ZoneID> = []
        for (number, operation) in operations.enumerated() {
            guard case .refused(let failure) = operation.change else { continue }
            refused[number] = failure
            if isAtomic, !operation.id.zone.isDefault { zones.insert(operation.id.zone) }
        }
        for (number, operation) in operations.enumerated()
        where refused[number] == nil && zones.contains(operation.id.zone) {
            refused[number] = WebFailure(.atomicError, "Atomic failure")
        }
        return refused
    }

    mutating func next() -> WebStep {
        switch self.stage {
        case .done(let step): return step
        case .change:
            guard !self.executed.isEmpty else { return self.response }
            return .perform(.modifyRecords(self.modify), WebItems(self.form))
        case .read(let numbers):
            let ids = numbers.map { self.operations[$0].id }
            var keys: [Int: Set<String>] = [:]
            for (offset, number) in numbers.enumerated() {
                keys[offset] = self.operations[number].desiredKeys ?? self.desiredKeys.map { Set($0) }
            }
            return .perform(
                .fetchRecords(FetchRecords(scope: self.modify.scope, ids: ids)),
                WebItems(self.form, ids: ids, keys: keys)
            )
        }
    }

    mutating func replied(_ outcomes: Result<Outcomes, Failure>, _ items: WebItems) {
        switch (self.stage, outcomes) {
        case (.change, .failure(let failure)): self.stage = .done(.fail(WebFailure(failure)))
        case (.change, .success(let outcomes)): self.changed(outcomes)
        case (.read(let numbers), .success):
            for (number, result) in zip(numbers, items.results) where !result.isFailure {
                self.answers[number] = result.text
            }
            self.stage = .done(self.response)
        // The changes were made, whether or not the records can be read.
        case (.read, .failure): self.stage = .done(self.response)
        case (.done, _): break
        }
    }

    private mutating func changed(_ outcomes: Outcomes) {
        var saved: [Int] = []
        for (item, number) in self.executed.enumerated() {
            let id = self.operations[number].id
            switch outcomes.item(at: item) {
            case .failure(let failure):
                self.answers[number] = WebFailure(failure).item(self.form) {
                    $0.member("recordName", id.recordName)
                }
            case .recordSaved(let record):
                self.answers[number] = self.answer(record, of: self.modify.saves[item])
                saved.append(number)
            default:
                var output = JSONOutput()
                output.webDeletion(id, self.form)
                self.answers[number] = output.text
            }
        }
        self.stage = saved.isEmpty ? .done(self.response) : .read(saved.sorted())
    }

    /// A saved record without its fields, for when it cannot be read any more.
    private func answer(_ saved: RecordSaved, of save: RecordSave) -> [UInt8] {
        let record = Record(
            id: save.id,
            recordType: save.recordType,
            changeTag: saved.changeTag,
            system: saved.system,
            body: .empty
        )
        var output = JSONOutput()
        output.webRecord(record, self.form)
        return output.text
    }

    private var response: WebStep { .respond(JSONOutput.webBody("records", self.answers)) }
}
