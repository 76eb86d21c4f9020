import RecordModel
import StorageContract

/// The writer's caches of the store between transactions.
///
/// They are valid for a generation of the store. Every commit of any process that may change more
/// than contents of databases increments it. After another process' commit or a rollback, all
/// caches are dropped. Records, and sums of stored amounts, may also change within a generation.
final class WriterKnowledge {
    struct TypeName: Hashable {
        let environment: EnvironmentID
        let name: String
    }

    struct ZoneName: Hashable {
        let database: DatabaseID
        let name: String
    }

    /// The user and container with the quotas that a database counts toward.
    struct Account {
        let container: Int64
        /// The number of the user; 0 if there is none.
        let owner: Int64
    }

    /// `nil` if nothing is cached.
    var generation: Int64?
    var memory = RuleMemory()
    let records = RecordMemory(bytesMax: RecordMemory.bytesMax)
    var zones: [ZoneName: ZoneKey] = [:]
    var types: [TypeName: StoredType] = [:]
    var typeNumbers: [TypeName: Int64] = [:]
    var authorNumbers: [String: Int64] = [:]
    /// The last number assigned, by the name of the table.
    var numbers: [String: Int64] = [:]
    var accounts: [DatabaseID: Account] = [:]
    /// Stored bytes of containers and users, as of the last commit.
    var containerBytes: [Int64: Int64] = [:]
    var userBytes: [Int64: Int64] = [:]
    /// When the sums were read, by PostgreSQL's clock.
    private var sumsMilliseconds: Int64?
    /// The kinds of housekeeping that may have work.
    var possibleWork = Set(HousekeepingKind.allCases)

    /// Empty caches, as of a generation.
    init(generation: Int64? = nil) { self.generation = generation }

    /// Maximum number of entries; beyond it all are dropped.
    private static let entriesMax = 100_000

    var isLarge: Bool {
        self.zones.count + self.types.count + self.typeNumbers.count + self.authorNumbers.count
            + self.accounts.count + self.containerBytes.count + self.userBytes.count + self.memory.count
            > Self.entriesMax
    }

    /// How long cached sums are used while other servers add to them.
    private static let sumsMillisecondsMax: Int64 = 1_000

    /// Drops sums that may be too old.
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

    /// There are no stale changes: a record that changes again removes its old position at once.
    var staleChanges: StaleChanges { StaleChanges() }
}
