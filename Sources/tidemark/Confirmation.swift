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
                "\(consequence) Nobody is there to be asked, so nothing was changed. To do it without a question: --yes"
            )
        }
        Terminal.writeError("\(consequence) Type its name to go on, \(name): ")
        guard readLine() == name else {
            throw CommandFailure(.usage, "that is not its name, so nothing was changed.")
        }
    }
}
