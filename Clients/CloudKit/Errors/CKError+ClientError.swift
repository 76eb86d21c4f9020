import RecordModel
import Foundation
package import RecordClient
import WireProtocol

extension CKError {
    /// Reads a part of a response.
    static func reading<Value>(_ read: () throws(WireError) -> Value) throws(CKError) -> Value {
        do throws(WireError) {
            return try read()
        } catch {
            throw CKError(.protocolViolation(error))
        }
    }

    /// Makes the error of a request that got no response, or was refused as a whole.
    package init(_ error: ClientError) {
        switch error {
        case .refused(let failure):
            self.init(failure)
        case .rejected(let reason, let message):
            self.init(rejection: reason, message: message)
        case .unreachable(let description):
            self.init(.networkFailure, message: description, advice: .now)
        case .offline(let description):
            self.init(.networkUnavailable, message: description, advice: .now)
        // This is not a network failure: a program would retry until an operator changes the
        // set-up.
        case .misconfigured(let description):
            self.init(.badContainer, message: description, advice: .never)
        case .responseLost:
            self.init(
                .serverResponseLost,
                message: "The connection ended before the response came",
                advice: .now
            )
        case .cancelled:
            self.init(.operationCancelled, message: "The operation was cancelled", advice: .never)
        case .protocolViolation(let wireError):
            self.init(
                .internalError,
                message: "The server's response breaks the protocol: \(wireError)",
                advice: .never
            )
        case .fileFailed(let failure): self.init(failure)
        case .closed:
            self.init(.networkUnavailable, message: "The container's connection was closed", advice: .never)
        }
    }

    /// Makes the error of an asset's file.
    init(_ failure: FileFailure) {
        switch failure {
        case .missing(let text): self.init(.assetFileNotFound, message: text, advice: .afterChange)
        case .unopened(let text): self.init(.assetNotAvailable, message: text, advice: .afterChange)
        case .modified(let text): self.init(.assetFileModified, message: text, advice: .afterChange)
        case .unusable(let text): self.init(.invalidArguments, message: text, advice: .afterChange)
        // The disk failed, or is full: neither the file nor its permissions are at fault.
        case .failed(let text): self.init(.internalError, message: text, advice: .afterChange)
        }
    }

    private init(rejection reason: CloseReason, message: String) {
        switch reason {
        case .notAuthenticated, .credentialExpired:
            self.init(.notAuthenticated, message: message, advice: .never)
        case .containerUnknown:
            self.init(.badContainer, message: message, advice: .never)
        case .versionUnsupported:
            self.init(.incompatibleVersion, message: message, advice: .never)
        case .overloaded:
            self.init(
                .serviceUnavailable,
                message: message,
                advice: .after(seconds: Self.overloadPauseSeconds)
            )
        case .drain, .idle, .slowReader, .handshakeTimeout:
            self.init(.networkFailure, message: message, advice: .now)
        default:
            self.init(.internalError, message: "\(message) (close reason \(reason.rawValue))", advice: .never)
        }
    }

    /// A server that is out of connections sends no retry time.
    private static let overloadPauseSeconds = 5.0

    private init(_ code: Code, message: String, advice: CKRetryAdvice) {
        var userInfo = Self.userInfo(code: code, message: message)
        userInfo[Self.retryAdviceKey] = advice
        if case .after(let seconds) = advice {
            Self.noteRetry(after: seconds, code, in: &userInfo)
        }
        self.init(code, userInfo: userInfo)
    }
}

extension ClientError {
    /// Whether the server refuses the token or the key.
    var isOfCredential: Bool {
        guard case .rejected(let reason, _) = self else { return false }
        return reason == .notAuthenticated || reason == .credentialExpired
    }

    /// Whether the server executes no request of the user.
    var isOfRestriction: Bool {
        guard case .refused(let failure) = self else { return false }
        return failure.code == .managedAccountRestricted
    }
}
