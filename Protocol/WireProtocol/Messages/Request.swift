package import RecordModel

/// Frame `request`: opens a stream.
package struct Request: Hashable, Sendable {
    /// Required when the operation changes anything.
    package var requestID: RequestID?
    /// 0: the server's longest.
    package var deadlineMilliseconds: UInt32
    package var operation: Operation

    package init(requestID: RequestID?, deadlineMilliseconds: UInt32, operation: Operation) {
        self.requestID = requestID
        self.deadlineMilliseconds = deadlineMilliseconds
        self.operation = operation
    }
}
