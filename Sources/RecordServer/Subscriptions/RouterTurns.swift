import RecordModel
import RecordStore

/// Changes that wait to be routed, in turns by database: those of one delay those of another by a
/// turn.
///
/// Changes of one database stay in the order in which they came. So each of its subscriptions
/// hears of commits in their order, and a listener of all that was committed after it began, and of
/// nothing before. Work that is longer than a turn is done in parts.
///
/// Used on the router's thread only.
struct RouterTurns {
    /// Something to do about one database.
    struct Work {
        enum Kind {
            case committed(DatabaseCommit, RoutedCommit)
            case skipped
            case joined(JoiningListener)
        }

        let database: DatabaseID
        var kind: Kind
    }

    /// What a database may cost in a round, in comparisons: about a millisecond.
    static let turnCost = 10_000

    private var waiting = TurnQueue<DatabaseID, Work>(quantum: RouterTurns.turnCost)

    var isEmpty: Bool { self.waiting.isEmpty }

    mutating func append(_ kind: Work.Kind, of database: DatabaseID) {
        // What it costs is charged when it is known.
        self.waiting.append(Work(database: database, kind: kind), of: database, cost: 1)
    }

    mutating func popFirst() -> Work? { self.waiting.popFirst() }

    /// Puts back what is done in part only.
    mutating func putBack(_ work: Work) {
        self.waiting.putBack(work, of: work.database, cost: 1)
    }

    /// Charges a database with what was done for it.
    mutating func charge(_ cost: Int, of database: DatabaseID) {
        self.waiting.charge(cost, of: database)
    }
}
