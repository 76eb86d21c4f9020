import RecordModel
import RecordStore

/// The writer's memory of the store from one transaction to the next.
///
/// All of it is as of a generation of the store, which every commit counts up, of whichever process, that
/// may change more than contents of databases. When somebody else has made one, or something was taken
/// back, all is forgotten. Records, and sums of what is stored, may change besides.
final class WriterKnowledge {
    struct TypeName: Hashable {
        let environment: EnvironmentID
        let name: String
    }

    struct ZoneName: Hashable {
        let database: DatabaseID
        let name: String
    }

    /// The user and container whose quotas a database counts for.
    struct Account {
        let container: Int64
        /// The number of the user; 0 if it is nobody's.
        let owner: Int64
    }

    /// `nil` if nothing is known.
    var generation: Int64?
    var memory = RuleMemory()
    let records = RecordMemory(bytesMax: RecordMemory.bytesMax)
    var zones: [ZoneName: ZoneKey] = [:]
    var types: [TypeName: StoredType] = [:]
    var typeNumbers: [TypeName: Int64] = [:]
    var authorNumbers: [String: Int64] = [:]
    /// The last number that was given, by the name of the table.
    var numbers: [String: Int64] = [:]
    var accounts: [DatabaseID: Account] = [:]
    /// The amounts that containers and users store, as of the last commit.
    var containerBytes: [Int64: Int64] = [:]
    var userBytes: [Int64: Int64] = [:]
    /// When the sums began to be read, by PostgreSQL's clock.
    private var sumsMilliseconds: Int64?
    /// The kinds of housekeeping that may have work.
    var possibleWork = Set(HousekeepingKind.allCases)

    /// Knows nothing as of a generation.
    init(generation: Int64? = nil) { self.generation = generation }

    /// Beyond so many entries all is forgotten: the memory is bounded.
    private static let entriesMax = 100_000

    var isLarge: Bool {
        self.zones.count + self.types.count + self.typeNumbers.count + self.authorNumbers.count
            + self.accounts.count + self.containerBytes.count + self.userBytes.count + self.memory.count
            > Self.entriesMax
    }

    /// How long sums are used to which other servers add.
    private static let sumsMillisecondsMax: Int64 = 1_000

    /// Forgets sums that may be too old.
    func forgetOldSums(nowMilliseconds now: Int64, isAlone: Bool) {
        guard !isAlone else { return }
        if let read = self.sumsMilliseconds, abs(now - read) < Self.sumsMillisecondsMax { return }
        self.sumsMilliseconds = now
        self.containerBytes = [:]
        self.userBytes = [:]
    }

    func forgetTypes() { self.types = [:] }

    func forgetUsage() {
        self.accounts = [:]
        self.containerBytes = [:]
        self.userBytes = [:]
    }
}

extension WriterKnowledge: HousekeepingKnowledge {
    func mayHave(_ kind: HousekeepingKind) -> Bool { self.possibleWork.contains(kind) }

    /// Nothing is kept that is stale: a record that changes again leaves its old position at once.
    var staleChanges: StaleChanges { StaleChanges() }
}
