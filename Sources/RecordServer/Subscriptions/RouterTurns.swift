import RecordModel
import RecordStore

/// Queues of changes to route, served round robin by database: one database delays others by one
/// turn.
///
/// Changes of one database stay in order. So its subscriptions see commits in order, and a listener
/// sees every commit after its start and none before. Work longer than a turn is done in parts.
///
/// Used on the router's thread only.
struct RouterTurns {
    /// A piece of work for one database.
    struct Work {
        enum Kind {
            case committed(DatabaseCommit, RoutedCommit)
            case skipped
            case joined(JoiningListener)
        }

        let database: DatabaseID
        var kind: Kind
    }

    /// The cost that a database may use in a round, in comparisons: about a millisecond.
    static let turnCost = 10_000

    private var waiting = TurnQueue<DatabaseID, Work>(quantum: RouterTurns.turnCost)

    var isEmpty: Bool { self.waiting.isEmpty }

    mutating func append(_ kind: Work.Kind, of database: DatabaseID) {
        // The real cost is charged when it is known.
        self.waiting.append(Work(database: database, kind: kind), of: database, cost: 1)
    }

    mutating func popFirst() -> Work? { self.waiting.popFirst() }

    /// Puts back unfinished work.
    mutating func putBack(_ work: Work) {
        self.waiting.putBack(work, of: work.database, cost: 1)
    }

    /// Charges a database for finished work.
    mutating func charge(_ cost: Int, of database: DatabaseID) {
        self.waiting.charge(cost, of: database)
    }
}
