import ArgumentParser
import RecordModel

/// `--policy`: what a save does with a record that is there.
enum PolicyName: String, ExpressibleByArgument, CaseIterable {
    /// Writes if the change tag is the record's, or if neither exists.
    case ifUnchanged = "if-unchanged"
    /// Writes the given fields, whatever the change tag.
    case changedKeys = "changed-keys"
    /// The same, and removes the fields that are not given.
    case allKeys = "all-keys"

    var policy: ModifyRecords.Policy {
        switch self {
        case .ifUnchanged: .ifServerRecordUnchanged
        case .changedKeys: .changedKeys
        case .allKeys: .allKeys
        }
    }
}
