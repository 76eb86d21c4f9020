/// Why a command failed, and what its caller can do about it.
struct CommandFailure: Error, Hashable {
    /// Exit codes, as in `sysexits.h`.
    enum Code: Int32, CaseIterable {
        /// The command line or a setting is wrong.
        case usage = 64
        /// A named thing is invalid, missing, or exists already; or a file is damaged.
        case data = 65
        /// The data folder does not exist, or has no store; or there is no backup.
        case noStore = 66
        /// The server or the store is not available now.
        case unavailable = 69
        /// A file or folder cannot be made.
        case cannotCreate = 73
        /// The data folder belongs to another user.
        case noPermission = 77
        /// Certificates or keys cannot be used, or other users have too many permissions on them or
        /// on a folder.
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
