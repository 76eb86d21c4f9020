import NIOCore
import WireProtocol

/// One stream from its request to its end: what is to be executed, and what came of it.
final class Answer {
    enum Stage {
        /// To be executed when there is room for the outcomes.
        case waiting(AdmittedRequest)
        /// The engine has it.
        case executing
        /// Outcomes wait for the client; `next` is the place of the first that was not sent.
        case sending(Outcomes, next: Int)
        /// Delayed by a fault, and executed after it.
        case delayed(AdmittedRequest)
    }

    let stream: UInt32
    let kind: OperationKind
    /// When the request had come whole.
    let arrived: NIODeadline
    /// Milliseconds since 1970.
    let deadlineMilliseconds: Int64
    var stage: Stage
    /// What the answer counts for in the connection's account.
    var heldBytes = 0
    /// Room set aside while the engine reads, in bytes.
    var reservedBytes = 0
    /// Whether that is in the holder's account: an answer that comes at once is not.
    var isReservationCounted = false
    /// By a fault: the item that fails without being executed, until it is sent.
    private(set) var refusedItem: Item?
    private var refusedNumber = Int.max
    /// By a fault: the item that the request is to be executed without.
    var itemToRefuse: FaultCounter.RefusedItem?
    /// By a fault: the connection breaks in place of the answer.
    var breaksConnection = false

    init(
        stream: UInt32,
        kind: OperationKind,
        arrived: NIODeadline,
        request: AdmittedRequest,
        deadlineMilliseconds: Int64
    ) {
        self.stream = stream
        self.kind = kind
        self.arrived = arrived
        self.stage = .waiting(request)
        self.deadlineMilliseconds = deadlineMilliseconds
    }

    /// The item's number in the request of the outcome at this place.
    func number(of offset: Int) -> UInt32 {
        UInt32(offset < self.refusedNumber ? offset : offset + 1)
    }

    func refuse(_ number: Int, _ failure: Failure) {
        self.refusedNumber = number
        self.refusedItem = Item(index: UInt32(number), outcome: .failure(failure))
    }

    func takeRefusedItem() -> Item? {
        defer { self.refusedItem = nil }
        return self.refusedItem
    }
}
