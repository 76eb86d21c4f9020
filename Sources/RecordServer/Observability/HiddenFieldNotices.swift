import RecordStore

/// Which fields of record types an operator was told of: those that queries can't name.
///
/// Each is told once in the life of the server.
struct HiddenFieldNotices {
    /// Beyond it nothing is told: clients make names.
    private static let noticesMax = 1_000

    private struct Notice: Hashable {
        var environment: EnvironmentID
        var recordType: String
        var field: String
    }

    private var told: Set<Notice> = []

    /// Returns whether a field is to be told of now.
    mutating func tells(_ field: String, of recordType: String, in environment: EnvironmentID) -> Bool {
        guard self.told.count < Self.noticesMax else { return false }
        return self.told.insert(Notice(environment: environment, recordType: recordType, field: field))
            .inserted
    }
}
