private import Synchronization

/// The requests in flight of one fetch or send.
///
/// Only they are cancelled, never a call of the delegate: an app that was interrupted while it
/// handled an event would have lost it.
final class SyncCalls: Sendable {
    private struct State {
        var isCancelled = false
        var cancellations: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    var isCancelled: Bool { self.state.withLock { $0.isCancelled } }

    /// Ends the requests with `operationCancelled`, and all later ones.
    func cancel() {
        let cancellations = self.state.withLock { state in
            state.isCancelled = true
            return state.cancellations.values.map { $0 }
        }
        for cancel in cancellations { cancel() }
    }

    /// Makes a request.
    func run<Value: Sendable>(
        _ request: @escaping @Sendable () async throws -> Value
    ) async throws(CKError) -> Value {
        let task = Task { try await request() }
        let number: UInt64? = self.state.withLock { state in
            guard !state.isCancelled else { return nil }
            state.last += 1
            state.cancellations[state.last] = { task.cancel() }
            return state.last
        }
        guard let number else {
            task.cancel()
            throw .cancelled
        }
        defer { self.state.withLock { $0.cancellations[number] = nil } }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            throw error as? CKError ?? .cancelled
        }
    }
}
