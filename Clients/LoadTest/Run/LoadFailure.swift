/// Why a run ends without, or in spite of, its figures, and what its caller can do about it.
struct LoadFailure: Error, Hashable {
    /// The numbers of `sysexits.h`.
    enum Code: Int32 {
        /// Tenants who are equal got less equal shares than was asked for.
        case unfair = 1
        /// The command line is wrong.
        case usage = 64
        /// What was read is not what was acknowledged.
        case violated = 65
        /// The server, or another process of the run, cannot be had.
        case unavailable = 69
        /// A command failed, or the server refuses what the run needs.
        case failed = 70
        /// A file cannot be written.
        case cannotCreate = 73
        /// By Ctrl-C: 128 and the number of the signal, as a shell says it.
        case interrupted = 130
    }

    var code: Code
    /// What is wrong, then what to do.
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
