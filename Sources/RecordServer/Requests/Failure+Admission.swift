import NIOCore
import RecordModel
import StorageContract
import WireProtocol

extension Failure {
    /// The failure of a request that exceeds the connection's limits.
    init(_ reason: ServerSide.RefusalReason) {
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

    /// The failure of a request that could not be decoded.
    init(refused code: ErrorCode, _ error: WireError, payload: ByteBuffer, bounds: Bounds) {
        switch code {
        case .limitExceeded:
            self = Self.limitExceeded(error, payload: payload, bounds: bounds)
        case .operationUnknown:
            self.init(
                code: code,
                message: "the server does not know the operation: it is older than the client",
                retry: .never
            )
        default:
            let detail = error.detail.isEmpty ? "" : ": \(error.detail)"
            self.init(code: code, message: "the request is invalid: \(error.field)\(detail)", retry: .never)
        }
    }

    /// A write on a connection with a service key that may only read.
    static let accountRestricted = Failure(
        code: .managedAccountRestricted,
        message: "the operator has restricted the processing of this user's data: nothing is read or changed "
            + "until the restriction is lifted",
        retry: .afterChange
    )

    static func readOnlyKey(_ keyID: String) -> Failure {
        Failure(
            code: .permissionFailure,
            message: "the service key \(keyID) may only read: register another one without --read-only "
                + "(tidemark key add)",
            retry: .never
        )
    }

    private static func limitExceeded(_ error: WireError, payload: ByteBuffer, bounds: Bounds) -> Failure {
        switch error.field {
        case "items": .tooManyItems(RequestShape(payload).itemCount, itemsMax: bounds.requestItemsMax)
        case "request": .requestTooLarge(bytes: payload.readableBytes, bytesMax: bounds.requestBytesMax)
        default:
            Failure(
                code: .limitExceeded,
                message: "the request has more \(error.field) than the limit",
                retry: .afterChange
            )
        }
    }
}
