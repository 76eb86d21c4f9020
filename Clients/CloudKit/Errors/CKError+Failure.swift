import RecordModel
import Foundation
package import WireProtocol

extension CKError {
    /// Makes the error of a failure that the server reported.
    ///
    /// - Parameters:
    ///   - failure: The server's failure.
    ///   - clientRecord: The record that was to be saved, as it was sent; it has the ancestor.
    ///   - itemID: The ID of the item that `failure.cause` names; `nil` if there is none.
    ///   - currentUser: The record name of the user who sent the request.
    package init(
        _ failure: Failure,
        clientRecord: CKRecord?,
        itemID: AnyHashable?,
        currentUser: String?
    ) {
        var userInfo = Self.userInfo(of: failure)
        userInfo[Self.batchCauseKey] = CKBatchCause(failure.cause, itemID: itemID)
        if failure.code == .serverRecordChanged {
            userInfo[CKRecordChangedErrorClientRecordKey] = clientRecord
            userInfo[CKRecordChangedErrorAncestorRecordKey] = clientRecord?.ancestor.map {
                CKRecord.made(of: $0, currentUser: currentUser)
            }
            userInfo[CKRecordChangedErrorServerRecordKey] = failure.serverRecord.map {
                CKRecord.made(of: $0, currentUser: currentUser)
            }
        }
        self.init(Code(failure.code), userInfo: userInfo)
    }

    /// Makes the error of a request that the server refused as a whole.
    init(_ failure: Failure) {
        self.init(Code(failure.code), userInfo: Self.userInfo(of: failure))
    }

    /// Whether the server lacks a file, or the record no longer names it.
    var isOfLostFile: Bool {
        guard let underlying = self.userInfo[NSUnderlyingErrorKey] as? NSError else { return false }
        return underlying.domain == Self.internalErrorDomain
            && underlying.code == Int(ErrorCode.assetNotAvailable.rawValue)
    }

    private static func userInfo(of failure: Failure) -> [String: Any] {
        var userInfo = Self.userInfo(
            code: Code(failure.code),
            message: failure.code == .notAuthenticated
                ? "\(failure.message): set \(CKServerConnection.Variable.token) to a user's access token"
                : failure.message,
            serverCode: failure.code.rawValue
        )
        userInfo[Self.retryAdviceKey] = CKRetryAdvice(failure.retry)
        if case .after(let milliseconds) = failure.retry {
            Self.noteRetry(after: Double(milliseconds) / 1_000, Code(failure.code), in: &userInfo)
        }
        return userInfo
    }

    /// Makes the error of a request in which some items failed.
    ///
    /// - Parameters:
    ///   - errors: The errors of the items that failed, by ID.
    ///   - message: A text for people.
    /// - Returns: An error with the code `partialFailure`.
    package static func partialFailure(_ errors: [AnyHashable: any Error], message: String) -> CKError {
        var userInfo = Self.userInfo(code: .partialFailure, message: message)
        userInfo[CKPartialErrorsByItemIDKey] = errors
        return CKError(.partialFailure, userInfo: userInfo)
    }
}

extension CKError.Code {
    /// Makes the code of a server's number: below 100 the numbers are Apple's; of the others, the
    /// nearest code of Apple's.
    init(_ code: ErrorCode) {
        switch code {
        case .deadlineExceeded: self = .networkFailure
        case .operationUnknown: self = .incompatibleVersion
        // Apple's code with this number is about files of this machine.
        case .assetNotAvailable: self = .serverRejectedRequest
        default: self = Int(exactly: code.rawValue).flatMap { Self(rawValue: $0) } ?? .internalError
        }
    }
}

extension CKRetryAdvice {
    init(_ retry: RetryAdvice) {
        switch retry {
        case .never: self = .never
        case .now: self = .now
        case .after(let milliseconds): self = .after(seconds: Double(milliseconds) / 1_000)
        case .afterChange: self = .afterChange
        }
    }
}

extension CKBatchCause {
    /// Makes the cause; `nil` if it is another item with an unknown ID.
    init?(_ cause: Failure.Cause, itemID: AnyHashable?) {
        switch (cause, itemID) {
        case (.culprit, _): self = .culprit
        case (.dependsOn, let id?): self = .dependsOn(id)
        case (.atomicPeer, let id?): self = .atomicPeer(id)
        case (.dependsOn, nil), (.atomicPeer, nil): return nil
        }
    }
}
