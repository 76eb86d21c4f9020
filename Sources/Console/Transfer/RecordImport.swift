package import RecordModel

/// An order to bring the records of a file into a database.
///
/// The command executes it as `tidemark records import` does.
package struct RecordImport: Sendable {
    /// The policy for a record that is there and differs.
    package enum Policy: String, CaseIterable, Sendable {
        case ifUnchanged = "if-unchanged"
        case changedKeys = "changed-keys"
        case allKeys = "all-keys"
    }

    package var container: String
    package var environment: Environment
    package var scope: DatabaseScope
    /// The user who becomes the creator and the modifier.
    package var user: String
    package var path: String
    package var isCSV: Bool
    /// With CSV: the type of all records.
    package var recordType: String?
    /// In place of the zones in the text.
    package var zone: ZoneID?
    package var policy: Policy
    package var createsZones: Bool
    package var isDryRun: Bool
}

/// The numbers of an import, and what was refused.
package struct RecordImportReport: Hashable, Sendable {
    package struct Failure: Hashable, Sendable {
        package var line: Int?
        package var record: String
        package var reason: String

        package init(line: Int?, record: String, reason: String) {
            self.line = line
            self.record = record
            self.reason = reason
        }
    }

    package var created = 0
    package var changed = 0
    package var unchanged = 0
    /// Shares, user records, and lines that a later one replaces.
    package var skipped = 0
    package var zonesCreated = 0
    package var refused = 0
    /// The first of what was refused.
    package var failures: [Failure] = []

    package init() {}
}

package enum RecordImportOutcome: Sendable {
    case finished(RecordImportReport)
    /// A sentence or two: what is wrong, what was written, and what to do.
    case failed(String)
}
