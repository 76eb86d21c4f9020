import NIOCore
import RecordModel

/// All requests of a client that have not ended: those that wait, in the order of their numbers, and those on streams.
///
/// A stream whose request has ended (cancelled, or its time is over) is in no table: its answers are dropped.
struct RequestTable {
    private var requests: [UInt64: PendingRequest] = [:]
    private var streams: [StreamKey: UInt64] = [:]
    /// Numbers of waiting requests, oldest first; also of some that have ended since, which are skipped.
    private var queue = CircularBuffer<UInt64>()
    private(set) var waitingCount = 0

    var isEmpty: Bool { self.requests.isEmpty }
    var hasWaiting: Bool { self.waitingCount > 0 }

    /// Unbounded: a caller that starts requests without waiting for their ends is bounded by its own memory.
    mutating func add(_ request: PendingRequest) {
        self.requests[request.number] = request
        self.queue.append(request.number)
        self.waitingCount += 1
    }

    /// The oldest request that waits.
    mutating func nextWaiting() -> PendingRequest? {
        while let number = self.queue.first {
            if let request = self.requests[number], request.place == .waiting { return request }
            self.queue.removeFirst()
        }
        return nil
    }

    /// The request that `nextWaiting` returned was sent.
    mutating func sent(_ number: UInt64, on key: StreamKey, requestID: RequestID?, now: NIODeadline) {
        self.queue.removeFirst()
        self.waitingCount -= 1
        self.streams[key] = number
        self.requests[number]?.place = .sent(key)
        self.requests[number]?.requestID = requestID
        if self.requests[number]?.sentAt == nil { self.requests[number]?.sentAt = now }
    }

    /// Changes the request of a stream in place.
    ///
    /// - Returns: `nil` when nobody waits for the stream.
    mutating func withRequest<Value>(
        on key: StreamKey,
        _ body: (inout PendingRequest) -> Value
    ) -> Value? {
        guard let number = self.streams[key], let index = self.requests.index(forKey: number) else {
            return nil
        }
        return body(&self.requests.values[index])
    }

    /// The stream has ended.
    mutating func remove(on key: StreamKey) -> PendingRequest? {
        guard let number = self.streams.removeValue(forKey: key) else { return nil }
        return self.requests.removeValue(forKey: number)
    }

    mutating func remove(_ number: UInt64) -> PendingRequest? {
        guard let request = self.requests.removeValue(forKey: number) else { return nil }
        switch request.place {
        case .waiting:
            self.waitingCount -= 1
            self.compactQueue()
        case .sent(let key): self.streams[key] = nil
        }
        return request
    }

    mutating func removeAll() -> [PendingRequest] {
        let all = self.requests.values.sorted { $0.number < $1.number }
        self = RequestTable()
        return all
    }

    /// The stream was refused with nothing done: its request waits again, before those that came later.
    mutating func sendAgain(on key: StreamKey) {
        guard let number = self.streams.removeValue(forKey: key) else { return }
        self.putBack([number])
    }

    /// The connection is gone: its requests wait again, before those that came later.
    mutating func connectionEnded(_ connection: Int) {
        let lost = self.streams.filter { $0.key.connection == connection }
        for key in lost.keys { self.streams[key] = nil }
        self.putBack(lost.values.sorted())
    }

    /// Takes out the requests whose time is over, oldest first.
    mutating func removeExpired(now: NIODeadline) -> [PendingRequest] {
        self.requests.values.filter { $0.deadline <= now }.map(\.number).sorted().compactMap {
            self.remove($0)
        }
    }

    /// When the next request's time is over.
    var nextDeadline: NIODeadline? { self.requests.values.lazy.map(\.deadline).min() }

    private mutating func putBack(_ numbers: [UInt64]) {
        for number in numbers {
            self.requests[number]?.place = .waiting
            self.requests[number]?.forgetList()
        }
        self.waitingCount += numbers.count
        let waiting = self.queue.filter { self.requests[$0]?.place == .waiting }
        self.queue = CircularBuffer(Set(numbers).union(waiting).sorted())
    }

    /// Keeps the numbers of ended requests from filling the queue while nothing can be sent.
    private mutating func compactQueue() {
        guard self.queue.count > 64, self.queue.count > 2 * self.waitingCount else { return }
        self.queue = CircularBuffer(self.queue.filter { self.requests[$0]?.place == .waiting })
    }
}
