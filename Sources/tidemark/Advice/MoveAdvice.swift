import Administration
import StorageContract

/// Error texts for moves between engines.
enum MoveAdvice {
    static func failure(_ fault: StoreMoveFault) -> CommandFailure {
        switch fault {
        case .cannotRead(let table, let failure):
            CommandFailure(
                .unavailable,
                "the table \(table) cannot be read (\(self.text(failure))). "
                    + "Nothing was changed there; run the command again."
            )
        case .cannotCopy(let table, let failure):
            CommandFailure(
                .unavailable,
                "rows of the table \(table) cannot be copied (\(self.text(failure))). "
                    + "Check disk and connection of the target, and run the command again: it continues where it was."
            )
        case .differs(let table, let key):
            CommandFailure(
                .data,
                "the copy differs from the store in the table \(table), in the row with \(key). The store has changed since an "
                    + "interrupted move, or the copy has. Begin again: add --restart to the command."
            )
        }
    }

    static func failure(_ error: StoreMoveError, from source: String, to target: String) -> CommandFailure {
        switch error {
        case .isBusy:
            CommandFailure(
                .unavailable,
                "another process writes to \(source). Wait for it, and run the command again."
            )
        case .isServed(let node, let seconds):
            CommandFailure(
                .unavailable,
                "the server of \(node) serves \(source). Stop it; if it is gone, wait \(seconds) s."
            )
        case .isNotEmpty:
            CommandFailure(
                .data,
                "\(target) has a store already, and a move overwrites nothing. Name an empty database (createdb --encoding "
                    + "UTF8 --template template0 NAME), or an empty folder."
            )
        case .isOfAnotherMove:
            CommandFailure(
                .data,
                "\(target) has what the interrupted move of another store has left. Continue that one, or remove it: in "
                    + "PostgreSQL with DROP SCHEMA tidemark CASCADE, in a folder with --restart."
            )
        case .storage(let failure):
            CommandFailure(.unavailable, "the move failed (\(Self.text(failure))). Run the command again.")
        case .file(let error): CopyAdvice.failure(error, in: target)
        }
    }

    /// The text of an engine's failure, for its operator.
    private static func text(_ failure: StorageFailure) -> String {
        switch failure {
        case .unavailable(let code), .unexpected(let code): PostgreSQLOpening.text(ofCode: code)
        case .conflict: "the connection was lost, or another process was faster"
        case .outcomeUnknown: "the connection was lost"
        case .exceeds: "a change is larger than a client's may be"
        }
    }
}
