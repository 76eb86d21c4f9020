/// Why a command could not do what it was asked to, and what its caller can do about it.
struct CommandFailure: Error, Hashable {
    /// The numbers of `sysexits.h`.
    enum Code: Int32 {
        /// The command line or a setting is wrong.
        case usage = 64
        /// What was named is invalid, missing, or there already; or a file is damaged.
        case data = 65
        /// There is no data folder, or no store in it.
        case noStore = 66
        /// The server or the store cannot be used now.
        case unavailable = 69
        /// A file or folder cannot be made.
        case cannotCreate = 73
        /// The data folder is another user's.
        case noPermission = 77
        /// Certificates or keys cannot be used, or others may do too much with them or with a folder.
        case configuration = 78
    }

    var code: Code
    /// One or two sentences: what is wrong, then what to do.
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
