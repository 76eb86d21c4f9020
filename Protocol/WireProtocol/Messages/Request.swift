package import RecordModel

/// Frame `request`: opens a stream.
package struct Request: Hashable, Sendable {
    /// Required if the operation changes anything.
    package var requestID: RequestID?
    /// 0 for the server's maximum.
    package var deadlineMilliseconds: UInt32
    package var operation: Operation

    package init(requestID: RequestID?, deadlineMilliseconds: UInt32, operation: Operation) {
        self.requestID = requestID
        self.deadlineMilliseconds = deadlineMilliseconds
        self.operation = operation
    }
}
