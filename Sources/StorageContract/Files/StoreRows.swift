/// The rows of a whole store, table by table, each in the order of its key.
///
/// Used by one thread at a time. Every call blocks.
package protocol StoreRows: AnyObject {
    /// The first rows behind a key, or of all; fewer than `limit` only at the end.
    func rows(
        of table: Table,
        after key: [ColumnValue]?,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]]

    func count(of table: Table) throws(StorageFailure) -> Int

    /// The last numbers that were given, by name of the table, where none is given twice; those of indexes
    /// under `MovedNumbers.index`.
    func lastNumbers() throws(StorageFailure) -> [String: Int64]
}

/// Numbers that are given once, beside those of tables.
package enum MovedNumbers {
    package static let index = "index"

    /// Tables that give no number twice.
    package static let tables = Table.all.filter { $0.numbering == .numberedOnce }
}

/// A store that moves to another engine.
///
/// No other process writes to it meanwhile.
package protocol MovedStore: StoreRows {
    /// Ends the store: no engine finds it any more.
    ///
    /// Its contents stay, for an operator who wants to look.
    ///
    /// - Returns: The location of the contents.
    /// - Durability: returns after the change is on disk.
    func retire() throws(StoreMoveError) -> String

    /// Leaves the store as it was.
    func close()
}

/// The store that a move fills.
///
/// No engine serves it before it is complete.
package protocol FilledStore: StoreRows {
    /// The key of the last row of a table; `nil` if it has none.
    func lastKey(of table: Table) throws(StorageFailure) -> [ColumnValue]?

    /// Adds rows that are behind all others of the table: all or none.
    ///
    /// - Durability: rows that an interrupted process added stay.
    func add(_ rows: [[ColumnValue]], to table: Table) throws(StorageFailure)

    /// Lets the store be served, as another life of every database (`DatabaseEpoch`).
    ///
    /// - Durability: returns after all of it is on disk, or throws and the store is not complete.
    func complete(lastNumbers: [String: Int64], nowMilliseconds now: Int64) throws(StoreMoveError)

    func close()
}

/// Why a store cannot move.
package enum StoreMoveError: Error, Hashable, Sendable {
    /// Another process writes to it, or keeps it locked.
    case isBusy
    /// A server has it, or had it a moment ago.
    case isServed(node: String, secondsLeft: Int)
    /// The target has a store, or something else of that name.
    case isNotEmpty
    /// The target has rows that another move has left.
    case isOfAnotherMove
    case storage(StorageFailure)
    case file(StoreCopyError)
}
