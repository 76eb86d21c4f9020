/// Requests that wait until held responses of the connection leave, in order of arrival.
///
/// Inlined, so that no call lies within an access to a connection's queue: such accesses would be
/// checked at run time.
struct RequestQueue {
    private var waiting: [UInt32] = []
    private var isExecuting = false

    /// Whether no request waits.
    var isEmpty: Bool {
        @inline(__always) get { self.waiting.isEmpty }
    }

    /// Queues a request.
    @inline(__always)
    mutating func append(_ stream: UInt32) { self.waiting.append(stream) }

    /// Begins to execute requests that have room.
    ///
    /// - Returns: `false` during another execution, which then continues with the queue.
    @inline(__always)
    mutating func begin() -> Bool {
        guard !self.isExecuting, !self.waiting.isEmpty else { return false }
        self.isExecuting = true
        return true
    }

    /// The next request that has room; `nil` if there is none, which ends the execution.
    @inline(__always)
    mutating func next(hasRoom: Bool) -> UInt32? {
        guard !self.waiting.isEmpty, hasRoom else {
            self.isExecuting = false
            return nil
        }
        return self.waiting.removeFirst()
    }

    /// The connection has ended.
    mutating func removeAll() { self.waiting = [] }
}
