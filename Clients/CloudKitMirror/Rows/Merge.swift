internal import GRDB

/// The merge of a row with a new state of its record.
struct Merge: Equatable {
    /// A column that was changed on both sides, to different values.
    struct Conflict: Equatable {
        /// The index in `RowValues`.
        let column: Int
        let ancestor: DatabaseValue
        let mine: DatabaseValue
        let theirs: DatabaseValue
    }

    enum Side: String {
        case mine
        case theirs
    }

    private(set) var row: RowValues
    private(set) var conflicts: [Conflict] = []

    /// Merges column by column.
    ///
    /// - Parameters:
    ///   - ancestor: The row as both sides had it; `nil` if there was none.
    ///   - mine: The row here.
    ///   - theirs: The server's record.
    ///   - sent: Values that were sent without a response, by column. A value of theirs that was
    ///     sent from here is not a change by others.
    ///   - winner: The side that wins a conflict.
    init(
        ancestor: RowValues?,
        mine: RowValues,
        theirs: RowValues,
        sent: [Int: [DatabaseValue]],
        winner: Side
    ) {
        self.row = theirs
        for index in theirs.indices {
            let (local, remote) = (mine[index], theirs[index])
            let wasSent = sent[index]?.contains(remote) ?? false
            let base = wasSent ? remote : ancestor?[index] ?? .null
            if local == remote || local == base { continue }
            if remote == base {
                self.row[index] = local
                continue
            }
            self.conflicts.append(Conflict(column: index, ancestor: base, mine: local, theirs: remote))
            if winner == .mine { self.row[index] = local }
        }
    }

    /// The columns to send: those that differ from the ancestor, and those that an earlier attempt
    /// may have changed on the server.
    static func changes(
        of row: RowValues,
        since ancestor: RowValues,
        sent: [Int: [DatabaseValue]]
    ) -> [Int] {
        row.indices.filter { index in
            row[index] != ancestor[index] || sent[index]?.contains { $0 != ancestor[index] } ?? false
        }
    }
}
