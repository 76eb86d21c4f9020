private import Foundation

/// Where a program keeps what is its user's.
///
/// - Source: *XDG Base Directory Specification*, 0.8: a path that is not absolute counts as absent.
package enum UserFolder {
    /// What can be fetched again.
    case cache
    /// What is kept from run to run.
    case state

    /// The folder: what the XDG variable says, else the usual one below `$HOME`, else below the home that the user database names.
    package func path(variables: [String: String]) -> String {
        func folder(_ name: String) -> String? { variables[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let home = folder("HOME") ?? NSHomeDirectory()
        switch self {
        case .cache: return folder("XDG_CACHE_HOME") ?? home + "/.cache"
        case .state: return folder("XDG_STATE_HOME") ?? home + "/.local/state"
        }
    }
}
