package import RecordModel
package import StorageContract

/// The outcome of the records of an import.
package struct ImportResult: Sendable {
    package internal(set) var created = 0
    package internal(set) var changed = 0
    package internal(set) var unchanged = 0
    /// Shares, user records, deletions, and lines that a later one replaces.
    package internal(set) var skipped = 0
    package internal(set) var zonesCreated = 0
    package internal(set) var failures = ItemFailures()

    /// Whether there was no record: the input was empty, as others are refused.
    package var isEmpty: Bool {
        self.created + self.changed + self.unchanged + self.skipped + self.failures.count == 0
    }
}

/// Why an import ended before the end of its file.
package struct ImportStop: Error, Sendable {
    package enum Cause: Error, Hashable, Sendable {
        case file(RecordFileFault)
        /// A record that an earlier line has, too.
        case twice(String, line: Int, earlierLine: Int)
        /// The file is another one than was checked.
        case fileChanged
        /// Zones of the file that are not there, and that the import does not make.
        case zonesMissing([ZoneID])
        /// A zone that cannot be made.
        case zone(ZoneID, StoreError)
        /// All further records would be refused, too.
        case store(StoreError)
    }

    package let file: String
    package let cause: Cause
    /// The records that were written before the failure.
    package let result: ImportResult
    /// Whether the file was still being checked, so that nothing was written.
    package let isChecking: Bool
}
