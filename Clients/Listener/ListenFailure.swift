/// Why the listener gives up, and what its caller can do about it.
struct ListenFailure: Error, Hashable {
    /// The numbers of `sysexits.h`.
    enum Code: Int32 {
        /// The command line or a setting is wrong.
        case usage = 64
        /// The server refuses what it was asked for.
        case refused = 65
        /// A file cannot be written.
        case cannotCreate = 73
        /// Nobody reads the output.
        case output = 74
    }

    var code: Code
    /// What is wrong, then what to do.
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
