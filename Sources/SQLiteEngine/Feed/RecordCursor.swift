import RecordStore

/// Moves through the records of a file by number: those that follow each other in the order of their
/// creation are found without a search.
final class RecordCursor {
    /// With the columns of a record, from a number on.
    let statement: HotStatement
    /// The number that the statement is at; `nil` if it is nowhere.
    private var reached: Int64?
    /// The tag of the record that a visitor is lent.
    // SAFETY: written when a visit begins, and only one visit is under way at a time.
    let changeTag = UnsafeMutableRawBufferPointer.allocate(byteCount: ChangeTag.digitsMax, alignment: 1)

    /// So many numbers further a record is looked for by steps, each of which costs a tenth of a search.
    private static let stepsMax: Int64 = 8

    init(_ statement: HotStatement) {
        self.statement = statement
    }

    deinit { self.changeTag.deallocate() }

    /// Lets go of the snapshot.
    func finish() {
        if self.reached != nil { self.statement.reset() }
        self.reached = nil
    }

    /// Moves to a record; false if there is none.
    func reach(_ number: Int64) throws(StorageFailure) -> Bool {
        var reached = self.reached
        // A step that fails leads nowhere.
        self.reached = nil
        if let last = reached, last <= number, number - last <= Self.stepsMax {
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
