import CloudKit

/// The error with which the listener ends, and what its user can do.
struct ListenFailure: Error, Hashable {
    /// The numbers of `sysexits.h`.
    enum Code: Int32 {
        /// The command line is wrong.
        case usage = 64
        /// The server refuses the request or the credential.
        case refused = 65
        /// The server can't be reached, for a command that does not wait for it.
        case unavailable = 69
        /// A command of `--exec` has failed.
        case command = 70
        /// A file can't be written.
        case cannotCreate = 73
        /// The output is closed.
        case output = 74
        /// A setting can never work: the address, the container, the certificate authority, or the
        /// key.
        case configuration = 78
    }

    var code: Code
    /// The error, then what to do.
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Makes the failure of an error that a retry does not remove; `purpose` names the action in a
    /// sentence, and is `nil` for the connection itself.
    init(_ error: CKError, to purpose: String? = nil) {
        let text = error.localizedDescription
        switch error.code {
        case .badContainer:
            self.init(.configuration, text)
        case .notAuthenticated:
            self.init(
                .refused,
                "\(text). Set TIDEMARK_TOKEN to what tidemark user renew prints, or TIDEMARK_SERVICE_KEY "
                    + "to the file that tidemark key add wrote."
            )
        case .networkFailure, .networkUnavailable, .serverResponseLost, .serviceUnavailable:
            self.init(.unavailable, text)
        default:
            self.init(.refused, purpose.map { "cannot \($0): \(text)" } ?? text)
        }
    }
}
