import Foundation

/// Asks before something is done that cannot be undone.
enum Confirmation {
    /// Goes on only when somebody types the name of what it is about.
    ///
    /// - Throws: `usage`, also when no terminal is there.
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
