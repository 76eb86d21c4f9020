import Foundation

/// Asks for confirmation of an action that cannot be undone.
enum Confirmation {
    /// Returns only if the user types the name.
    ///
    /// - Throws: `usage`, also if there is no terminal.
    static func ask(_ consequence: String, name: String) throws(CommandFailure) {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                .usage,
                "\(consequence) There is no terminal to confirm it, so nothing was changed. To skip the confirmation: --yes"
            )
        }
        Terminal.writeError("\(consequence) Type its name to continue, \(name): ")
        guard readLine() == name else {
            throw CommandFailure(.usage, "the name does not match, so nothing was changed.")
        }
    }
}
