/// Reads all rows of a table, a page in memory at a time.
package struct RowCursor {
    private let store: any StoreRows
    private let table: Table
    private var page: ArraySlice<[ColumnValue]> = []
    /// The key of the last row that was read; `nil` before the first.
    private var last: [ColumnValue]?
    private var isAtEnd = false

    /// Begins behind a key, or with the first row.
    package init(_ store: any StoreRows, _ table: Table, after key: [ColumnValue]? = nil) {
        self.store = store
        self.table = table
        self.last = key
    }

    package mutating func next() throws(StorageFailure) -> [ColumnValue]? {
        if self.page.isEmpty {
            guard !self.isAtEnd else { return nil }
            let limit = self.table.movedPageMax
            self.page = try self.store.rows(of: self.table, after: self.last, limit: limit)[...]
            self.isAtEnd = self.page.count < limit
            self.last = self.page.last.map { self.table.key(of: $0) }
        }
        return self.page.popFirst()
    }
}

extension [ColumnValue] {
    /// The memory of the values, roughly, in bytes.
    package var movedBytes: Int {
        self.reduce(0) { sum, value in
            switch value {
            case .null: sum
            case .integer: sum + 8
            case .text(let text): sum + text.utf8.count
            case .bytes(let bytes): sum + bytes.count
            }
        }
    }
}
