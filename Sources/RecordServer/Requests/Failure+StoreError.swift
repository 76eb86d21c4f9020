import RecordModel
package import StorageContract
package import WireProtocol

extension Failure {
    /// The wire format of a store error: number, text, cause and advice.
    package init(_ error: StoreError) {
        let row = error.row
        self.init(
            code: row.code,
            message: row.text,
            cause: error.cause,
            retry: row.retry,
            serverRecord: error.serverRecord
        )
    }
}

extension StoreError {
    /// The item at fault: this item, unless another one failed first.
    fileprivate var cause: Failure.Cause {
        switch self {
        case .atomicPeer(let index): .atomicPeer(index: UInt32(clamping: index))
        case .dependsOn(let index): .dependsOn(index: UInt32(clamping: index))
        default: .culprit
        }
    }

    /// For a conflict: the server's record.
    fileprivate var serverRecord: Record? {
        switch self {
        case .recordExists(let record), .changeTagStale(let record): record
        default: nil
        }
    }
}
