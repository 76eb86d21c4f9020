import RecordModel
import RecordStore
import WireProtocol

extension Failure {
    /// The wire's form of an error of the store: number, text, cause and advice.
    init(_ error: StoreError) {
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
    /// What is at fault within the request: the item itself unless another one failed first.
    fileprivate var cause: Failure.Cause {
        switch self {
        case .atomicPeer(let index): .atomicPeer(index: UInt32(clamping: index))
        case .dependsOn(let index): .dependsOn(index: UInt32(clamping: index))
        default: .culprit
        }
    }

    /// With a conflict: the record that the server has.
    fileprivate var serverRecord: Record? {
        switch self {
        case .recordExists(let record), .changeTagStale(let record): record
        default: nil
        }
    }
}
