import RecordModel
import RecordStore
import StorageContract

/// A transaction that is being routed, with its progress.
///
/// A query's subscription gets a notification for each record. A zone's and a database's get one
/// for each transaction, about all changes there, and so at its end.
struct RoutedCommit {
    /// The effect of a transaction on subscriptions of a zone or a database.
    struct Touched {
        let group: WatchGroup
        var position: Int64
        let origin: ChangeOrigin?
        /// Then no connection is excluded: each is notified of the others' changes.
        var hasSeveralOrigins = false
    }

    /// A query's subscription that a change fires if its user may read the record.
    struct Match {
        let watch: Watch
        let group: WatchGroup
        let change: CommittedChange
        let record: CommittedRecord
        /// `nil` if the user may, in any case.
        var question: ReadQuestion?
    }

    let committed: CommittedChanges
    /// Changes before it are routed.
    var next = 0
    /// Whether users may read what changed, which is asked once a transaction; `nil` if the engine failed.
    private(set) var permissions: [ReadQuestion: Bool?] = [:]
    /// Matches that wait for an answer, and those behind them, in order.
    private(set) var matches: [Match] = []
    /// The questions to ask.
    private(set) var questions: [ReadQuestion] = []
    private(set) var touched: [Touched] = []
    /// Indexes into `touched`.
    private var indices: [ObjectIdentifier: Int] = [:]

    init(_ committed: CommittedChanges) {
        self.committed = committed
    }

    /// Has a match wait.
    ///
    /// - Returns: Whether its question is new.
    mutating func wait(for match: Match) -> Bool {
        self.matches.append(match)
        guard let question = match.question, self.permissions[question] == nil else { return false }
        self.permissions[question] = .some(nil)
        self.questions.append(question)
        return true
    }

    /// The answers to all questions have come; `nil` if the engine could not tell.
    mutating func answer(_ answers: [Bool]?) {
        for (question, mayRead) in zip(self.questions, answers ?? []) { self.permissions[question] = mayRead }
        self.questions = []
    }

    /// Takes the matches that have waited.
    mutating func takeMatches() -> [Match] {
        defer { self.matches = [] }
        return self.matches
    }

    mutating func touch(_ group: WatchGroup, at position: Int64, by origin: ChangeOrigin?) {
        guard let index = self.indices[ObjectIdentifier(group)] else {
            self.indices[ObjectIdentifier(group)] = self.touched.count
            self.touched.append(Touched(group: group, position: position, origin: origin))
            return
        }
        self.touched[index].position = position
        if self.touched[index].origin != origin { self.touched[index].hasSeveralOrigins = true }
    }
}
