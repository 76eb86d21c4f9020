import CloudKit

/// Why the listener gives up, and what its caller can do about it.
struct ListenFailure: Error, Hashable {
    /// The numbers of `sysexits.h`.
    enum Code: Int32 {
        /// The command line is wrong.
        case usage = 64
        /// The server refuses what it was asked for, or whoever asks.
        case refused = 65
        /// The server cannot be reached, by a command that does not wait for it.
        case unavailable = 69
        /// A file cannot be written.
        case cannotCreate = 73
        /// Nobody reads the output.
        case output = 74
        /// A setting can never work: the address, the container, the authority of the certificate, the key.
        case configuration = 78
    }

    var code: Code
    /// What is wrong, then what to do.
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// An error that asking again does not mend; the purpose is what was to be done, for a sentence, `nil` for the connection itself.
    init(_ error: CKError, to purpose: String? = nil) {
        let text = error.localizedDescription
        switch error.code {
        case .badContainer:
            self.init(.configuration, text)
        case .notAuthenticated:
            self.init(
                .refused,
                "\(text). Set TIDEMARK_TOKEN to what tidemark user renew prints, or TIDEMARK_SERVICE_KEY "
                    + "to the file that tidemark key add makes."
            )
        case .networkFailure, .networkUnavailable, .serverResponseLost, .serviceUnavailable:
            self.init(.unavailable, text)
        default:
            self.init(.refused, purpose.map { "cannot \($0): \(text)" } ?? text)
        }
    }
}
