import RecordJSON
import RecordModel
import RecordStore

/// The records that a command could not write or read, of which the first are kept.
struct ItemFailures {
    /// Kept for the output in JSON.
    private static let keptMax = 1_000
    /// Shown on standard error.
    private static let shownMax = 20

    private(set) var kept: [ItemFailure] = []
    private(set) var count = 0
    private var arePermissions = true

    init() {}

    mutating func add(_ failure: ItemFailure) {
        self.count += 1
        self.arePermissions = self.arePermissions && failure.isPermission
        if self.kept.count < Self.keptMax { self.kept.append(failure) }
    }

    mutating func add(_ failures: ItemFailures) {
        self.count += failures.count
        self.arePermissions = self.arePermissions && failures.arePermissions
        self.kept += failures.kept.prefix(Self.keptMax - self.kept.count)
    }

    /// Writes the first failures to standard error, and fails if there are some.
    func report(_ summary: String) throws(CommandFailure) {
        guard self.count > 0 else { return }
        for failure in self.kept.prefix(Self.shownMax) {
            Terminal.writeError("tidemark: \(failure.description)\n")
        }
        if self.count > Self.shownMax {
            Terminal.writeError("tidemark: and \(self.count - Self.shownMax) more.\n")
        }
        throw CommandFailure(self.arePermissions ? .noPermission : .data, summary)
    }

    /// The same, with the numbers of a command that was asked for some records.
    func report(of count: Int, done: String) throws(CommandFailure) {
        try self.report("\(count - self.count) of \(count) records were \(done), and \(self.count) were not.")
    }
}

/// A record of a command that was refused.
struct ItemFailure: Hashable {
    var record: String
    /// Where it came from; `nil` if that is the command line.
    var line: Int?
    var text: String
    /// Whether somebody lacks a right.
    var isPermission = false

    init(record: String, line: Int? = nil, error: StoreError) {
        self.record = record
        self.line = line
        switch error {
        // A conflict, too, names a record that is missing; here nothing is saved.
        case .recordMissing where line == nil: self.text = "Record not found."
        default: self.text = RecordAdvice.text(error)
        }
        if case .permissionDenied = error { self.isPermission = true }
    }

    init(record: String, line: Int?, text: String) {
        self.record = record
        self.line = line
        self.text = text
    }

    var description: String {
        let place = self.line.map { "line \($0): " } ?? ""
        return PrintedText.line("\(place)the record '\(self.record)': \(self.text)")
    }
}
