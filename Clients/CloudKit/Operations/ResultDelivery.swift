private import Synchronization

/// Delivers the results of a request in order.
///
/// A result with an incomplete record waits until it is complete, and later results wait for it.
/// The methods are called where the callers of the request are called, one at a time.
final class ResultDelivery<Request: BatchRequest>: Sendable {
    private enum Slot {
        case ready(Request.ItemResult)
        /// The record is not complete: its files, or the server's state of a saved share, are
        /// missing.
        case waiting
    }

    private struct State {
        /// The results that were not delivered, and the number of the first of them.
        var slots: [Slot] = []
        var first = 0
        /// Results that wait to be completed, by number.
        var queue: [(number: Int, itemResult: Request.ItemResult, record: CKRecord)] = []
        var tasks: [Int: Task<Void, Never>] = [:]
        var end: (@Sendable () -> Void)?
        var isCancelled = false
    }

    private let tally: ResultTally<Request>
    /// `nil` if records are complete as they come.
    private let completion: (any RecordCompletion)?
    private let run: RequestCall.Run
    private let progress: (@Sendable (CKRecord.ID, Double) -> Void)?
    private let results: @Sendable ([Request.ItemResult]) -> Void
    private let state = Mutex(State())

    init(
        _ tally: ResultTally<Request>,
        completion: (any RecordCompletion)?,
        run: @escaping RequestCall.Run,
        progress: (@Sendable (CKRecord.ID, Double) -> Void)?,
        results: @escaping @Sendable ([Request.ItemResult]) -> Void
    ) {
        self.tally = tally
        self.completion = completion
        self.run = run
        self.progress = progress
        self.results = results
    }

    var isCancelled: Bool { self.state.withLock { $0.isCancelled } }

    func add(_ batch: [Request.ItemResult]) {
        guard let completion = self.completion else { return self.hand(over: batch) }
        let isSimple = self.state.withLock { state in
            state.slots.isEmpty && !batch.contains { self.needs(completion, $0) }
        }
        guard !isSimple else { return self.hand(over: batch) }
        self.state.withLock { state in
            for itemResult in batch {
                if self.needs(completion, itemResult), let record = self.record(of: itemResult) {
                    state.queue.append((state.first + state.slots.count, itemResult, record))
                    state.slots.append(.waiting)
                } else {
                    state.slots.append(.ready(itemResult))
                }
            }
        }
        self.advance(completion)
    }

    /// The request has ended; `end` is called when every result was delivered.
    func finish(_ end: @escaping @Sendable () -> Void) {
        guard let completion = self.completion else { return end() }
        self.state.withLock { $0.end = end }
        self.advance(completion)
    }

    /// Stops the completions under way; the results that wait for them fail.
    func cancel() {
        let tasks = self.state.withLock { state in
            state.isCancelled = true
            return state.tasks.values.map { $0 }
        }
        for task in tasks { task.cancel() }
    }

    private func advance(_ completion: any RecordCompletion) {
        let (ready, end) = self.state.withLock { state in
            while state.tasks.count < type(of: completion).parallelMax, !state.queue.isEmpty {
                let next = state.queue.removeFirst()
                let task = self.complete(next.itemResult, next.record, next.number, completion)
                state.tasks[next.number] = task
                if state.isCancelled { task.cancel() }
            }
            var ready: [Request.ItemResult] = []
            loop: for slot in state.slots {
                switch slot {
                case .ready(let itemResult): ready.append(itemResult)
                case .waiting: break loop
                }
            }
            state.slots.removeFirst(ready.count)
            state.first += ready.count
            return (ready, state.slots.isEmpty ? state.end.take() : nil)
        }
        self.hand(over: ready)
        end?()
    }

    private func complete(
        _ itemResult: Request.ItemResult,
        _ record: CKRecord,
        _ number: Int,
        _ completion: any RecordCompletion
    ) -> Task<Void, Never> {
        let id = record.recordID
        let meter = TransferMeter(run: { self.run(false, $0) }, report: { self.progress?(id, $0) })
        return Task {
            let result: Result<CKRecord, CKError>
            do throws(CKError) {
                result = .success(try await completion.complete(record, meter: meter))
            } catch {
                result = .failure(error)
            }
            self.run(true) { self.completed(number, itemResult, result, completion) }
        }
    }

    private func completed(
        _ number: Int,
        _ itemResult: Request.ItemResult,
        _ result: Result<CKRecord, CKError>,
        _ completion: any RecordCompletion
    ) {
        guard case .value(let id, _) = itemResult else { return }
        let completed: Request.ItemResult
        switch result {
        case .success(let record):
            completed = Request.value(of: record).map { .value(id, .success($0)) } ?? itemResult
        case .failure(let error):
            completed = .value(id, .failure(error))
            self.tally.count([completed])
        }
        self.state.withLock { state in
            state.tasks[number] = nil
            state.slots[number - state.first] = .ready(completed)
        }
        self.advance(completion)
    }

    private func hand(over results: [Request.ItemResult]) {
        if !results.isEmpty { self.results(results) }
    }

    private func needs(_ completion: any RecordCompletion, _ itemResult: Request.ItemResult) -> Bool {
        self.record(of: itemResult).map { completion.isNeeded(for: $0) } ?? false
    }

    private func record(of itemResult: Request.ItemResult) -> CKRecord? {
        guard case .value(_, .success(let value)) = itemResult else { return nil }
        return Request.record(of: value)
    }
}
