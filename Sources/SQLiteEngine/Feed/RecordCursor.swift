import StorageContract

/// Iterates over the records of a file by number: records created one after another are found
/// without a search.
final class RecordCursor {
    /// Selects the columns of records from a number on.
    let statement: HotStatement
    /// The number of the statement's current row; `nil` if it has none.
    private var reached: Int64?
    /// The tag of the record that is lent to a visitor.
    // SAFETY: written when a visit begins, and only one visit is under way at a time.
    let changeTag = UnsafeMutableRawBufferPointer.allocate(byteCount: ChangeTag.digitsMax, alignment: 1)

    /// Maximum distance to reach a record by stepping; a step costs a tenth of a search.
    private static let stepsMax: Int64 = 8

    init(_ statement: HotStatement) {
        self.statement = statement
    }

    deinit { self.changeTag.deallocate() }

    /// Releases the snapshot.
    func finish() {
        if self.reached != nil { self.statement.reset() }
        self.reached = nil
    }

    /// Moves to a record; false if there is none.
    func reach(_ number: Int64) throws(StorageFailure) -> Bool {
        var reached = self.reached
        // After a failed step there is no current row.
        self.reached = nil
        if let last = reached, (0...Self.stepsMax).contains(number &- last) {
            while let last = reached, last < number { reached = try self.step() }
        } else {
            if reached != nil { self.statement.reset() }
            self.statement.bind(1, number)
            reached = try self.step()
        }
        self.reached = reached
        return reached == number
    }

    /// The number of the next record.
    private func step() throws(StorageFailure) -> Int64? {
        try self.statement.step() ? self.statement.integer(RecordColumns.number) : nil
    }
}
