import NIOCore
import RecordModel
import RecordStore
import WireProtocol

extension Failure {
    /// A request that the connection has no room for.
    init(_ reason: ConnectionStateMachine.RefusalReason) {
        switch reason {
        case .tooManyInFlight:
            self.init(
                code: .requestRateLimited,
                message: "too many requests in flight on this connection: send it again when one is answered",
                retry: .after(milliseconds: 100)
            )
        case .draining:
            self.init(StoreError.shuttingDown)
        }
    }

    /// A request that the codec took apart and refused.
    init(refused code: ErrorCode, _ error: WireError, payload: ByteBuffer, bounds: Bounds) {
        switch code {
        case .limitExceeded:
            self.init(
                code: code,
                message: Self.limitText(error, payload: payload, bounds: bounds),
                retry: .afterChange
            )
        case .operationUnknown:
            self.init(
                code: code,
                message: "the server does not know the operation: it is older than the client",
                retry: .never
            )
        default:
            self.init(code: code, message: "the request is invalid: \(error.field)", retry: .never)
        }
    }

    private static func limitText(_ error: WireError, payload: ByteBuffer, bounds: Bounds) -> String {
        switch error.field {
        case "items":
            itemLimitText(count: RequestShape(payload).itemCount, bounds: bounds)
        case "request":
            "Your request is \(payload.readableBytes) bytes which is more than the maximum number of bytes "
                + "in a single request (\(bounds.requestBytesMax))"
        default:
            "the request has more \(error.field) than the limit"
        }
    }

    /// CloudKit's text.
    static func itemLimitText(count: Int, bounds: Bounds) -> String {
        "Your request contains \(count) items which is more than the maximum number of items in a single request "
            + "(\(bounds.requestItemsMax))"
    }
}
