import StorageContract

/// The fields, not usable in queries, that were reported to the operator.
///
/// Each is reported once in the life of the server.
struct HiddenFieldNotices {
    /// Beyond this number no field is reported: clients choose the names.
    private static let noticesMax = 1_000

    private struct Notice: Hashable {
        var environment: EnvironmentID
        var recordType: String
        var field: String
    }

    private var given: Set<Notice> = []

    /// Returns whether to report a field now.
    mutating func tells(_ field: String, of recordType: String, in environment: EnvironmentID) -> Bool {
        guard self.given.count < Self.noticesMax else { return false }
        return self.given.insert(Notice(environment: environment, recordType: recordType, field: field))
            .inserted
    }
}
