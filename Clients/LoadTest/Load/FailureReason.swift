import RecordModel
import RecordClient
import WireProtocol

/// Failures in constant words, so that they can be counted.
enum FailureReason {
    static func text(_ error: ClientError) -> String {
        switch error {
        case .refused(let failure): self.text(failure)
        case .rejected(let reason, _): "connection refused, reason \(reason.rawValue)"
        case .unreachable: "unreachable"
        case .offline: "no network"
        case .misconfigured: "misconfigured"
        case .responseLost: "no response in time"
        case .cancelled: "cancelled"
        case .protocolViolation: self.violation
        case .fileFailed: "file failed"
        case .closed: "closed"
        }
    }

    static let violation = "the server broke the protocol"

    /// The code's number, and its name if there is one.
    static func text(_ failure: Failure) -> String {
        let name = self.names[failure.code].map { " \($0)" } ?? ""
        return "code \(failure.code.rawValue)\(name)"
    }

    private static let names: [ErrorCode: String] = [
        .internalError: "internalError", .serviceUnavailable: "serviceUnavailable",
        .requestRateLimited: "requestRateLimited", .notAuthenticated: "notAuthenticated",
        .permissionFailure: "permissionFailure", .unknownItem: "unknownItem",
        .invalidArguments: "invalidArguments", .serverRecordChanged: "serverRecordChanged",
        .changeTokenExpired: "changeTokenExpired", .batchRequestFailed: "batchRequestFailed",
        .zoneBusy: "zoneBusy", .quotaExceeded: "quotaExceeded", .zoneNotFound: "zoneNotFound",
        .limitExceeded: "limitExceeded", .assetNotAvailable: "assetNotAvailable",
        .deadlineExceeded: "deadlineExceeded", .operationUnknown: "operationUnknown",
    ]
}
