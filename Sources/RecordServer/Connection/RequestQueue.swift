/// Requests that wait until responses that the connection holds make room, in order of arrival.
///
/// Inlined, so that no call lies within an access to the queue of a connection: such accesses would be
/// checked at run time.
struct RequestQueue {
    private var waiting: [UInt32] = []
    private var isExecuting = false

    /// Whether no request waits.
    var isEmpty: Bool {
        @inline(__always) get { self.waiting.isEmpty }
    }

    /// A request may be executed when its turn comes.
    @inline(__always)
    mutating func append(_ stream: UInt32) { self.waiting.append(stream) }

    /// Begins to execute what there is room for.
    ///
    /// - Returns: Whether to; `false` for a response that comes while another request is executed,
    ///   since whoever executes that one goes on.
    @inline(__always)
    mutating func begin() -> Bool {
        guard !self.isExecuting, !self.waiting.isEmpty else { return false }
        self.isExecuting = true
        return true
    }

    /// The next request that there is room for; `nil` if there is none, which ends the execution.
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
