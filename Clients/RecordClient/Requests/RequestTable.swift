import NIOCore
import RecordModel
import Transport
import WireProtocol

/// All requests of a client that have not ended: those that wait, in the order of their numbers,
/// and those on streams.
///
/// The stream of a cancelled or timed-out request is in no table. Its responses are dropped.
struct RequestTable {
    private var requests: [UInt64: PendingRequest] = [:]
    /// By connection: one, and for a while those that drain.
    private var streams: [(connection: Int, requests: StreamTable<PendingRequest>)] = []
    /// Waiting requests, oldest first.
    ///
    /// Requests that have ended since are skipped.
    private var queue = CircularBuffer<PendingRequest>()
    private(set) var waitingCount = 0
    /// Requests that the server has no room for yet, in no order.
    private var later: [(at: NIODeadline, request: PendingRequest)] = []

    var isEmpty: Bool { self.requests.isEmpty }
    var hasWaiting: Bool { self.waitingCount > 0 }

    /// Adds a request.
    ///
    /// The table is unbounded: a caller that starts requests without waiting for their ends is
    /// bounded by its own memory.
    mutating func add(_ request: PendingRequest) {
        self.requests[request.number] = request
        self.queue.append(request)
        self.waitingCount += 1
    }

    /// Returns the oldest waiting request.
    mutating func nextWaiting() -> PendingRequest? {
        while let request = self.queue.first {
            if !request.hasEnded { return request }
            self.queue.removeFirst()
        }
        return nil
    }

    /// Notes that the request that `nextWaiting` returned was sent.
    mutating func sent(_ request: PendingRequest, on key: StreamKey, requestID: RequestID?, now: NIODeadline)
    {
        self.queue.removeFirst()
        self.waitingCount -= 1
        if let index = self.index(of: key.connection) {
            self.streams[index].requests[key.stream] = request
        } else {
            var requests = StreamTable<PendingRequest>()
            requests[key.stream] = request
            self.streams.append((key.connection, requests))
        }
        request.phase = .sent(key)
        request.requestID = requestID
        if request.sentAt == nil { request.sentAt = now }
    }

    /// Returns the request of a stream, or `nil` if it has ended.
    func request(on key: StreamKey) -> PendingRequest? {
        self.index(of: key.connection).flatMap { self.streams[$0].requests[key.stream] }
    }

    /// Removes the request of a stream that has ended.
    mutating func remove(on key: StreamKey) -> PendingRequest? {
        guard let request = self.removeStream(key) else { return nil }
        self.requests[request.number] = nil
        request.hasEnded = true
        return request
    }

    mutating func remove(_ number: UInt64) -> PendingRequest? {
        guard let request = self.requests.removeValue(forKey: number) else { return nil }
        request.hasEnded = true
        switch request.phase {
        case .waiting:
            self.waitingCount -= 1
            self.compactQueue()
        case .sent(let key): _ = self.removeStream(key)
        case .later: self.later.removeAll { $0.request === request }
        case .finishing: break
        }
        return request
    }

    /// Removes a request from its stream and from the queue, although it has not ended.
    mutating func detach(_ request: PendingRequest) {
        if case .sent(let key) = request.phase { _ = self.removeStream(key) }
        request.phase = .finishing
    }

    /// Notes that the request that `nextWaiting` returned is not sent after all.
    mutating func leaveQueue(_ request: PendingRequest) {
        self.queue.removeFirst()
        self.waitingCount -= 1
        request.phase = .finishing
    }

    mutating func removeAll() -> [PendingRequest] {
        let all = self.requests.values.sorted { $0.number < $1.number }
        for request in all { request.hasEnded = true }
        self = RequestTable()
        return all
    }

    /// Queues the request of a stream that was refused with nothing done.
    ///
    /// It waits before those that came later.
    mutating func sendAgain(on key: StreamKey) {
        guard let request = self.removeStream(key) else { return }
        self.putBack([request])
    }

    /// Queues the requests of a connection that is gone.
    ///
    /// They wait before those that came later.
    mutating func connectionEnded(_ connection: Int) {
        guard let index = self.index(of: connection) else { return }
        let requests = self.streams.remove(at: index).requests.values
        for request in requests { request.mayHaveTakenEffect = request.operation.isMutating }
        self.putBack(requests)
    }

    /// Keeps the request of a stream back until this time, when the server has room.
    mutating func sendLater(on key: StreamKey, at time: NIODeadline) {
        guard let request = self.removeStream(key) else { return }
        request.phase = .later
        self.later.append((time, request))
    }

    /// Notes that no request can be sent from now on.
    func lackConnection(since now: NIODeadline) {
        for request in self.requests.values { request.lacksConnection(since: now) }
    }

    func haveConnection() {
        for request in self.requests.values { request.hasConnection() }
    }

    /// Queues the requests that are due.
    ///
    /// They wait before those that came later.
    mutating func returnDue(now: NIODeadline) {
        guard !self.later.isEmpty else { return }
        self.putBack(self.later.filter { $0.at <= now }.map(\.request))
        self.later.removeAll { $0.at <= now }
    }

    /// When the next request that was kept back is queued.
    var nextReturn: NIODeadline? { self.later.lazy.map(\.at).min() }

    /// Number of downloads on streams, at least 1.
    var downloadCount: Int {
        let count = self.streams.reduce(0) { $0 + $1.requests.values.count(where: \.isDownload) }
        return max(count, 1)
    }

    /// Removes and returns the requests that timed out, oldest first.
    mutating func removeExpired(now: NIODeadline) -> [PendingRequest] {
        let expired = self.requests.values.filter { $0.deadline <= now }.sorted { $0.number < $1.number }
        return expired.compactMap { self.remove($0.number) }
    }

    /// When the next request times out.
    var nextDeadline: NIODeadline? { self.requests.values.lazy.map(\.deadline).min() }

    private func index(of connection: Int) -> Int? {
        self.streams.firstIndex { $0.connection == connection }
    }

    private mutating func removeStream(_ key: StreamKey) -> PendingRequest? {
        guard let index = self.index(of: key.connection) else { return nil }
        return self.streams[index].requests.removeValue(of: key.stream)
    }

    private mutating func putBack(_ requests: [PendingRequest]) {
        for request in requests {
            request.phase = .waiting
            request.forgetList()
        }
        self.waitingCount += requests.count
        // None of these is in the queue: a request leaves it when it is sent.
        self.queue = CircularBuffer((requests + self.queue).sorted { $0.number < $1.number })
    }

    /// Removes ended requests, so that they cannot fill the queue while no request can be sent.
    private mutating func compactQueue() {
        guard self.queue.count > 64, self.queue.count > 2 * self.waitingCount else { return }
        self.queue = CircularBuffer(self.queue.filter { !$0.hasEnded })
    }
}
