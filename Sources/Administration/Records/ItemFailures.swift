package import StorageContract

/// The records that an operation could not write or read: their number, and the first of them.
package struct ItemFailures: Sendable {
    private static let keptMax = 1_000

    package private(set) var kept: [ItemFailure] = []
    package private(set) var count = 0
    /// Whether all of them lack a right.
    package private(set) var arePermissions = true

    package init() {}

    package mutating func add(_ failure: ItemFailure) {
        self.count += 1
        self.arePermissions = self.arePermissions && failure.isPermission
        if self.kept.count < Self.keptMax { self.kept.append(failure) }
    }

    package mutating func add(_ failures: ItemFailures) {
        self.count += failures.count
        self.arePermissions = self.arePermissions && failures.arePermissions
        self.kept += failures.kept.prefix(Self.keptMax - self.kept.count)
    }
}

/// A record that an operation could not write or read.
package struct ItemFailure: Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        case store(StoreError)
        /// The record that is there has another change tag.
        case differs(changeTag: String)
        /// The record that is there has another type.
        case hasType(String)
        case asset(AssetFault)
        /// The store answers with something else than a record.
        case isNoRecord
        /// An undo would have to change the type of the record.
        case hasTypeNow(String)
        /// Another change came between the comparison and the undo.
        case changedMeanwhile
    }

    package let record: String
    /// Its source; `nil` if that is the command line.
    package let line: Int?
    package let reason: Reason

    package init(record: String, line: Int? = nil, reason: Reason) {
        self.record = record
        self.line = line
        self.reason = reason
    }

    package init(record: String, line: Int? = nil, error: StoreError) {
        self.init(record: record, line: line, reason: .store(error))
    }

    /// Whether a right is lacking.
    package var isPermission: Bool {
        if case .store(.permissionDenied) = self.reason { true } else { false }
    }
}
