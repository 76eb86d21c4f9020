import RecordModel
import RecordStore

/// The writer's memory of the store from one transaction to the next.
///
/// All of it is as of a generation of the store, which every commit of whichever process counts up. When
/// somebody else has written, or something was taken back, all is forgotten.
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
    /// Kinds of housekeeping of which there may be some.
    var mayHave = Set(HousekeepingKind.allCases)

    /// Knows nothing as of a generation.
    init(generation: Int64? = nil) { self.generation = generation }

    /// Beyond so many entries all is forgotten: the memory is bounded.
    private static let entriesMax = 100_000

    var isLarge: Bool {
        self.zones.count + self.types.count + self.typeNumbers.count + self.authorNumbers.count
            + self.accounts.count + self.containerBytes.count + self.userBytes.count + self.memory.count
            > Self.entriesMax
    }

    func forgetTypes() { self.types = [:] }

    func forgetUsage() {
        self.accounts = [:]
        self.containerBytes = [:]
        self.userBytes = [:]
    }
}
