private import Foundation

/// The folders for a program's data that belong to its user.
///
/// - Source: *XDG Base Directory Specification*, 0.8: a path that is not absolute counts as absent.
package enum UserFolder {
    /// Data that can be fetched again.
    case cache
    /// State that is kept between runs.
    case state

    /// Returns the folder: that of the XDG variable, else the usual one in `$HOME`, else in the
    /// home folder of the user database.
    package func path(variables: [String: String]) -> String {
        func folder(_ name: String) -> String? { variables[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let home = folder("HOME") ?? NSHomeDirectory()
        switch self {
        case .cache: return folder("XDG_CACHE_HOME") ?? home + "/.cache"
        case .state: return folder("XDG_STATE_HOME") ?? home + "/.local/state"
        }
    }
}
