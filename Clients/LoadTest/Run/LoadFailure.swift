import RecordModel

/// Why a run has no results, or failed in spite of them, and what its caller can do about it.
struct LoadFailure: Error, Hashable {
    /// Exit codes, as in `sysexits.h`.
    enum Code: Int32 {
        /// A bound that the command line has was crossed.
        case beyondBound = 1
        /// The command line is wrong.
        case usage = 64
        /// A read record is not the acknowledged one.
        case violated = 65
        /// The server, or another process of the run, is not available.
        case unavailable = 69
        /// Requests failed, a command did, or the server refuses what the run needs.
        case failed = 70
        /// A file cannot be written.
        case cannotCreate = 73
        /// Ctrl-C: 128 plus the number of the signal, as in a shell.
        case interrupted = 130
    }

    var code: Code
    /// The fault, then what to do.
    var message: String
    /// The server's code, if it refused a request.
    var refusal: ErrorCode?

    init(_ code: Code, _ message: String, refusal: ErrorCode? = nil) {
        self.code = code
        self.message = message
        self.refusal = refusal
    }
}
