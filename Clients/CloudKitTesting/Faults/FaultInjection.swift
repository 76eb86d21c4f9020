package import RecordServer
import RecordModel
import RecordStore
import StorageContract
import Synchronization
import WireProtocol

/// The gate of a server on which things go wrong.
///
/// Numbers the requests of each kind, asks an injector about them, and does what it says.
///
/// Unbounded, as a server with faults does not live long.
package final class FaultInjection: RequestGate {
    /// The item that a request was executed without.
    private struct RefusedItem {
        var number: Int
        var failure: Failure
    }

    private struct State {
        var ordinals: [OperationKind: Int] = [:]
        /// Requests that change something, and what each was executed without.
        ///
        /// A request that is sent again gets the response of its execution, so it must be without
        /// the same item.
        var executed: [RequestID: RefusedItem?] = [:]
        /// Streams that are executed without an item.
        var refused: [GatedRequest.ID: RefusedItem] = [:]
        /// Streams that get a broken connection instead of a response.
        var breaking: Set<GatedRequest.ID> = []
    }

    private let injector: FaultInjector
    private let state = Mutex(State())

    package init(_ injector: @escaping FaultInjector) {
        self.injector = injector
    }

    // MARK: RequestGate

    package func admitted(_ request: GatedRequest) -> GateDecision {
        switch self.fault(for: request) {
        case nil: return .execute(self.remainder(of: request, without: nil))
        case .refuse(let failure): return .fail(failure)
        case .refuseItem(let number, let failure):
            return self.refuse(RefusedItem(number: number, failure: failure), of: request)
        case .dropConnectionBeforeExecution: return .breakConnection
        case .dropConnectionAfterCommit:
            self.state.withLock { _ = $0.breaking.insert(request.id) }
            return .execute(self.remainder(of: request, without: nil))
        case .delay(let duration):
            return .delay(duration, self.remainder(of: request, without: nil))
        case .hold(let gate):
            return .hold(self.remainder(of: request, without: nil)) { gate.whenOpen($0) }
        }
    }

    package func breaksConnection(insteadOf id: GatedRequest.ID) -> Bool {
        self.state.withLock { $0.breaking.remove(id) != nil }
    }

    package func passing(_ outcomes: Outcomes, of id: GatedRequest.ID) -> Outcomes {
        guard let refused = self.state.withLock({ $0.refused.removeValue(forKey: id) }) else {
            return outcomes
        }
        return Self.adding(refused, to: outcomes)
    }

    // MARK: -

    private func fault(for request: GatedRequest) -> Fault? {
        let ordinal = self.state.withLock { state in
            state.ordinals[request.operation, default: 0] += 1
            return state.ordinals[request.operation, default: 0]
        }
        return self.injector(
            FaultOccasion(
                operation: request.operation,
                ordinal: ordinal,
                userRecordName: request.userRecordName
            )
        )
    }

    /// Executes the request without one item, which fails; when it is atomic, all others fail with it.
    private func refuse(_ item: RefusedItem, of gated: GatedRequest) -> GateDecision {
        let request = gated.request
        guard (0..<request.itemCount).contains(item.number) else {
            return .execute(self.remainder(of: gated, without: nil))
        }
        guard request.isAtomic || request.itemCount == 1 else {
            return .execute(self.remainder(of: gated, without: item))
        }
        let peers = Array(
            repeating: WriteOutcome.failed(.atomicPeer(index: item.number)),
            count: request.itemCount - 1
        )
        return .respond(Self.adding(item, to: .written(peers)))
    }

    /// The request as faults leave it: when it was executed before, as it was then.
    private func remainder(of gated: GatedRequest, without item: RefusedItem?) -> AdmittedRequest {
        var item = item
        if case .write(let write) = gated.request {
            item = self.state.withLock { state in
                if let before = state.executed[write.requestID] { return before }
                state.executed[write.requestID] = .some(item)
                return item
            }
        }
        guard let item else { return gated.request }
        self.state.withLock { $0.refused[gated.id] = item }
        return gated.request.removingItem(item.number)
    }

    /// The outcomes of a request, and the failure of the item that it was executed without.
    private static func adding(_ refused: RefusedItem, to outcomes: Outcomes) -> Outcomes {
        var passing = self.items(of: outcomes)
        passing.insert(.failure(refused.failure), at: min(refused.number, passing.count))
        let items = EncodedItems()
        for item in passing { items.add(item) }
        items.finish(outcomes.end)
        return .encoded(items)
    }

    private static func items(of outcomes: Outcomes) -> [ItemOutcome] {
        guard case .encoded(let encoded) = outcomes else {
            return (0..<outcomes.count).map { outcomes.item(at: $0) }
        }
        do {
            return try encoded.payloads.flatMap { try Items(decoding: $0).items.map(\.outcome) }
        } catch {
            preconditionFailure("the server encoded items that are none: \(error)")
        }
    }
}
