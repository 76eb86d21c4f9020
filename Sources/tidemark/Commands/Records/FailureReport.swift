import Administration
import RecordJSON
import RecordModel
import StorageContract

extension ItemFailures {
    /// Shown on standard error.
    private static let shownMax = 20

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

extension ItemFailure {
    /// A sentence or two: what is wrong, then what to do.
    var text: String {
        switch self.reason {
        // A conflict, too, names a record that is missing; here nothing is saved.
        case .store(.recordMissing) where self.line == nil: "Record not found."
        case .store(let error): RecordAdvice.text(error)
        case .differs(let changeTag):
            "It differs from the record that is there, with the change tag \(changeTag). "
                + "Merge and name this tag, or say --policy changed-keys to overwrite its fields."
        case .hasType(let type):
            "The record that is there has the type \(type), which a record keeps for life."
        case .asset(let fault): fault.text
        case .isNoRecord: "The store gave another answer."
        case .hasTypeNow(let type):
            "It has the type \(type) now, which it keeps for life. Delete it, and undo once more."
        case .changedMeanwhile:
            "Somebody changed it meanwhile, so it stays as it is. Undo once more to change it back."
        }
    }

    var description: String {
        let position = self.line.map { "line \($0): " } ?? ""
        return PrintedText.line("\(position)the record '\(self.record)': \(self.text)")
    }
}

extension AssetFault {
    var text: String {
        switch self {
        case .isMissing(let asset, let folder):
            "its asset \(asset.hexadecimal) is not in \(folder) with \(asset.size) bytes."
        case .isWrong(let asset, let condition):
            "the file of its asset \(asset.hexadecimal) \(condition.text)."
        }
    }
}
