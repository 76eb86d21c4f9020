import Admission
import RecordModel
import StorageContract

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

    /// Work that waits for an answer of the store, and what has come behind it.
    private struct Parked {
        let work: Work
        var behind: [Work] = []
    }

    private var waiting = TurnQueue<DatabaseID, Work>(quantum: RouterTurns.turnCost)
    private var parked: [DatabaseID: Parked] = [:]

    var isEmpty: Bool { self.waiting.isEmpty }

    mutating func append(_ kind: Work.Kind, of database: DatabaseID) {
        // The real cost is charged when it is known.
        self.waiting.append(Work(database: database, kind: kind), of: database, cost: 1)
    }

    /// The next work in turn; what is behind parked work is put aside.
    mutating func popFirst() -> Work? {
        while let work = self.waiting.popFirst() {
            guard self.parked[work.database] != nil else { return work }
            self.parked[work.database]?.behind.append(work)
        }
        return nil
    }

    /// Has work wait for an answer, and all of its database that follows.
    mutating func park(_ work: Work) { self.parked[work.database] = Parked(work: work) }

    /// The answer has come: the work goes on where it was.
    mutating func resume(_ database: DatabaseID, _ answer: (inout RoutedCommit) -> Void) {
        guard let parked = self.parked.removeValue(forKey: database) else { return }
        for work in parked.behind.reversed() { self.putBack(work) }
        var work = parked.work
        if case .committed(let commit, var routed) = work.kind {
            answer(&routed)
            work.kind = .committed(commit, routed)
        }
        self.putBack(work)
    }

    /// Puts back unfinished work.
    mutating func putBack(_ work: Work) {
        self.waiting.putBack(work, of: work.database, cost: 1)
    }

    /// Charges a database for finished work.
    mutating func charge(_ cost: Int, of database: DatabaseID) {
        self.waiting.charge(cost, of: database)
    }
}
