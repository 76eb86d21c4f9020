import Foundation

// Beyond Apple's surface.

/// Advice to a caller about an error: whether and when to retry.
///
/// Not in Apple's framework.
///
/// - Source: beyond Apple.
public enum CKRetryAdvice: Hashable, Sendable {
    /// Do not retry: the same request fails again.
    case never
    /// Send the same request again at once.
    case now
    /// Send the same request again after a time.
    case after(seconds: Double)
    /// Change the item, or the record that it refers to, then send it again.
    case afterChange
}

/// Which item of a request is at fault.
///
/// Not in Apple's framework.
///
/// - Source: beyond Apple.
public enum CKBatchCause: Hashable {
    /// The item itself.
    case culprit
    /// Another item that this one needs: the one with the ID, which failed.
    case dependsOn(AnyHashable)
    /// Another item of the atomic batch: the one with the ID. Nothing is wrong with this item.
    case atomicPeer(AnyHashable)
}

extension CKError {
    /// Advice about the error: the server's or, without one, that of the code.
    ///
    /// Not in Apple's framework.
    public var retryAdvice: CKRetryAdvice {
        if let advice = self.userInfo[Self.retryAdviceKey] as? CKRetryAdvice { return advice }
        if let seconds = self.retryAfterSeconds { return .after(seconds: seconds) }
        if self.code == .partialFailure { return self.advice(from: self.partialErrorsByItemID ?? [:]) }
        switch self.code {
        case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy,
            .serverResponseLost, .accountTemporarilyUnavailable:
            return .now
        case .serverRecordChanged, .changeTokenExpired, .limitExceeded, .batchRequestFailed,
            .referenceViolation, .zoneNotFound, .assetFileModified:
            return .afterChange
        default:
            return .never
        }
    }

    /// Which item of the request is at fault; `nil` if the error is not that of an item.
    ///
    /// Not in Apple's framework.
    public var batchCause: CKBatchCause? { self.userInfo[Self.batchCauseKey] as? CKBatchCause }

    /// Returns the advice for a partial failure: the strictest of the items at fault.
    private func advice(from errors: [AnyHashable: any Error]) -> CKRetryAdvice {
        let errors = errors.values.compactMap { $0 as? CKError }
        let culprits = errors.filter { $0.code != .batchRequestFailed }
        let advices = (culprits.isEmpty ? errors : culprits).map(\.retryAdvice)
        return advices.max { $0.strictness < $1.strictness } ?? .never
    }

    static let retryAdviceKey = "TidemarkRetryAdvice"
    static let batchCauseKey = "TidemarkBatchCause"
}

extension CKRetryAdvice {
    /// Orders advice: of two items in a request, the larger number decides.
    fileprivate var strictness: Double {
        switch self {
        case .now: -1
        case .after(let seconds): seconds
        case .afterChange: .greatestFiniteMagnitude
        case .never: .infinity
        }
    }
}

// SAFETY: the IDs in it (record IDs, zone IDs, strings) are constant values.
extension CKBatchCause: @unchecked Sendable {}
