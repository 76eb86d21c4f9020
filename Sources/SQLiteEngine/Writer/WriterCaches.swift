import RecordModel
import RecordStore

/// What the writer knows without asking the file.
///
/// Valid while nobody else writes and nothing is rolled back; after that, forgotten.
struct WriterCaches {
    struct Name: Hashable {
        /// A database's or an environment's number.
        let owner: Int64
        let name: String
    }

    /// An object, so that the one that was asked for last is at hand without a search.
    final class Counter {
        var position: Int64
        var isChanged: Bool

        init(position: Int64, isChanged: Bool) {
            self.position = position
            self.isChanged = isChanged
        }
    }

    /// Whose quotas a database counts for.
    struct Account {
        let container: Int64
        /// The number of the user; 0: nobody's.
        let owner: Int64
    }

    private static let entriesMax = 50_000

    var counters: [DatabaseID: Counter] = [:]
    var changedCounters: [DatabaseID] = []
    var zones: [Name: ZoneKey] = [:]
    /// The memory of the rules.
    var memory = RuleMemory()
    var typeNumbers: [Name: Int64] = [:]
    var typeNames: [Int64: String] = [:]
    var types: [Name: StoredType] = [:]
    var authorNumbers: [String: Int64] = [:]
    var authorNames: [Int64: String] = [:]
    var accounts: [DatabaseID: Account] = [:]
    /// What containers and users store, as of the last commit; kept while there are quotas.
    var containerBytes: [Int64: Int64] = [:]
    var userBytes: [Int64: Int64] = [:]
    /// What was asked for last: most requests name one database, one type and one author.
    var lastCounter: (database: DatabaseID, counter: Counter)?
    var lastStoredType: (name: Name, type: StoredType)?
    var lastType: (name: Name, number: Int64)?
    var lastAuthor: (name: String, number: Int64)?
    var lastTypeName: (number: Int64, name: String)?
    var lastAuthorName: (number: Int64, name: String)?
    /// What is being taken out of `change`.
    var staleRound: StaleRound?
    /// Entries that became stale since the last round began; when that is not known, enough to look.
    var staleWaiting = StaleChanges.roundMinIdle

    /// Forgets everything but the counters, which may leave gaps but not go back.
    mutating func forgetNames() {
        let known = self
        self = WriterCaches()
        self.counters = known.counters
        self.changedCounters = known.changedCounters
    }

    /// Forgets what record types are like; their numbers stay.
    mutating func forgetTypes() {
        self.types.removeAll(keepingCapacity: true)
        self.lastStoredType = nil
    }

    /// Bounds the memory; to be called between transactions only.
    mutating func trim() {
        let count =
            self.counters.count + self.zones.count + self.typeNumbers.count + self.types.count
            + self.accounts.count + self.authorNumbers.count + self.authorNames.count
            + self.memory.count
        if count > Self.entriesMax { self = WriterCaches() }
    }
}
