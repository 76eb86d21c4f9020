import CloudKit

/// Why the program ends without success.
struct MirrorFailure: Error {
    /// The exit codes of `sysexits.h`.
    enum Code: Int32 {
        case refused = 65
        case late = 69
        case file = 73
        case setting = 78
    }

    let code: Code
    let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    init(_ error: CKError) {
        let code: Code =
            switch error.code {
            case .badContainer: .setting
            case .notAuthenticated, .permissionFailure, .managedAccountRestricted: .refused
            default: .late
            }
        self.init(code, error.localizedDescription)
    }
}
