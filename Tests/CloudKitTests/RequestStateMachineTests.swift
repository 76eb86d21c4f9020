import RecordClient
import RecordModel
import Testing
import WireProtocol

@testable import CloudKit

/// One request, event by event.
@Suite struct RequestStateMachineTests {
    private typealias Machine = RequestStateMachine<RecordFetch>

    private static let fetch = RecordFetch(
        ["a", "b", "c"].map { CKRecord.ID(recordName: $0) },
        desiredKeys: nil,
        scope: .private
    )

    private static func isRun(_ action: Machine.OnStep) -> Bool {
        if case .run = action { true } else { false }
    }

    private static func isWait(_ action: Machine.OnStep) -> Bool {
        if case .wait = action { true } else { false }
    }

    @Test func `a queue is told once of the steps that wait, and again when it has run them`() throws {
        var machine = Machine(Self.fetch, runsInTask: false)
        let attempt = RequestAttempt(request: Self.fetch, roles: Self.fetch.roles)
        // The caller gets no call for it.
        #expect(Self.isWait(machine.arrived(.sending(attempt))))
        #expect(Self.isRun(machine.arrived(.received([]))))
        #expect(Self.isWait(machine.arrived(.ended(.success(End())))))
        let first = machine.lend()
        let loan = try #require(first)
        #expect(loan.steps.count == 3)
        // While the steps run, the queue finds the next ones by itself.
        #expect(Self.isWait(machine.arrived(.received([]))))
        let next = machine.lend(after: loan.results)
        let second = try #require(next)
        #expect(second.steps.count == 1)
        let third = machine.lend(after: second.results)
        #expect(third == nil)
        #expect(Self.isRun(machine.arrived(.received([]))))
        machine.ended()
        #expect(Self.isWait(machine.arrived(.received([]))))
        #expect(machine.lend() == nil)
    }

    @Test func `a task is woken by an urgent step, and runs all that wait`() async throws {
        await withCheckedContinuation { task in
            var machine = Machine(Self.fetch, runsInTask: true)
            #expect(Self.isWait(machine.awaited(by: task)))
            #expect(Self.isWait(machine.arrived(.received([]))))
            #expect(Self.isWait(machine.arrived(.progress {})))
            guard case .wake(let woken) = machine.arrived(.ended(.success(End()))) else {
                Issue.record("the task sleeps on")
                return task.resume()
            }
            #expect(machine.lend()?.steps.count == 3)
            woken.resume()
        }
    }

    @Test func `a task that comes later runs at once`() async throws {
        await withCheckedContinuation { task in
            var machine = Machine(Self.fetch, runsInTask: true)
            #expect(Self.isWait(machine.arrived(.failed(.cancelled))))
            guard case .wake(let woken) = machine.awaited(by: task) else {
                Issue.record("the task waits")
                return task.resume()
            }
            woken.resume()
        }
    }

    @Test func `before its start a cancelled request cancels nothing, and no phase begins`() {
        var machine = Machine(Self.fetch, runsInTask: true)
        #expect(machine.cancelled().isEmpty)
        #expect(machine.begins(.opening) == .cancel)
        #expect(machine.begins(.sent) == .cancel)
    }

    @Test func `work is cancelled with the request, and so is work that is reported later`() async {
        var machine = Machine(Self.fetch, runsInTask: true)
        #expect(machine.begins(.opening) == .proceed)
        let opening = Task<Void, Never> { try? await Task.sleep(for: .seconds(600)) }
        #expect(machine.began(opening) == .proceed)
        let cancelled = machine.cancelled()
        for work in cancelled { work.cancel() }
        await opening.value
        #expect(cancelled.count == 1 && opening.isCancelled)
        #expect(machine.cancelled().isEmpty)
        #expect(machine.began(Task<Void, Never> {}) == .cancel)
        #expect(machine.begins(.sent) == .cancel)
    }

    @Test func `a phase forgets the work of those before it, and the end all work`() {
        var machine = Machine(Self.fetch, runsInTask: false)
        #expect(machine.begins(.opening) == .proceed)
        #expect(machine.began(Task<Void, Never> {}) == .proceed)
        #expect(machine.begins(.sent) == .proceed)
        for _ in 0..<2 { #expect(machine.began(Task<Void, Never> {}) == .proceed) }
        // A part of the request once more.
        #expect(machine.begins(.opening) == .proceed)
        #expect(machine.began(Task<Void, Never> {}) == .proceed)
        machine.ended()
        #expect(machine.cancelled().isEmpty)
    }

    @Test func `all work of a phase is cancelled`() {
        var machine = Machine(Self.fetch, runsInTask: false)
        #expect(machine.begins(.sent) == .proceed)
        for _ in 0..<3 { #expect(machine.began(Task<Void, Never> {}) == .proceed) }
        #expect(machine.cancelled().count == 3)
    }
}
