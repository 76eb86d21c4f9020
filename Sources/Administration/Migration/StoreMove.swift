import FileIO
import RecordStore
package import StorageContract
import SystemCrypto

/// Copies the rows of a store into another one, and compares both.
///
/// It starts after the last row of each table in the target, so it continues an interrupted move.
/// Memory holds a page of rows at a time, whatever the store.
package struct StoreMove {
    /// A batch is added at once.
    private static let batchRowsMax = 2_000
    private static let batchBytesMax = 4 * 1_024 * 1_024

    /// A table after the comparison.
    package struct Compared: Encodable, Hashable, Sendable {
        package let table: String
        package let rows: Int
        /// The hash of all rows in the order of their key, in hexadecimal.
        package let sha256: String
    }

    private let source: any StoreRows
    private let target: any FilledStore
    private var progress: Progress

    /// - Parameters:
    ///   - source: The store that moves.
    ///   - target: Gets its rows.
    ///   - showProgress: Gets how many rows are copied or compared, and how many there are: each is
    ///     read twice.
    package init(
        from source: any StoreRows,
        to target: any FilledStore,
        showProgress: @escaping @Sendable (Int64, Int64) -> Void
    ) {
        self.source = source
        self.target = target
        self.progress = Progress(showProgress)
    }

    /// Copies all rows that the target lacks.
    ///
    /// - Throws: `StoreMoveFault`.
    package mutating func copy() throws {
        var rows = 0
        for table in Table.moved {
            rows += try StoreMoveFault.reading(table) { () throws(StorageFailure) in
                try self.source.count(of: table)
            }
        }
        self.progress.begin(Int64(2 * rows))
        for table in Table.moved { try self.copy(table) }
    }

    private mutating func copy(_ table: Table) throws {
        let last = try StoreMoveFault.writing(table) { () throws(StorageFailure) in
            try self.target.lastKey(of: table)
        }
        var cursor = RowCursor(self.source, table, after: last)
        if last != nil {
            let done = try StoreMoveFault.writing(table) { () throws(StorageFailure) in
                try self.target.count(of: table)
            }
            self.progress.add(done)
        }
        var batch: [[ColumnValue]] = []
        var bytes = 0
        while let row = try StoreMoveFault.reading(table, { () throws(StorageFailure) in try cursor.next() })
        {
            batch.append(row)
            bytes += row.movedBytes
            guard batch.count == Self.batchRowsMax || bytes >= Self.batchBytesMax else { continue }
            try self.add(&batch, to: table)
            bytes = 0
        }
        try self.add(&batch, to: table)
    }

    private mutating func add(_ batch: inout [[ColumnValue]], to table: Table) throws {
        guard !batch.isEmpty else { return }
        try StoreMoveFault.writing(table) { () throws(StorageFailure) in
            try self.target.add(batch, to: table)
        }
        self.progress.add(batch.count)
        batch = []
    }

    /// Reads both stores and compares row by row.
    ///
    /// - Throws: `StoreMoveFault` with the first row that differs.
    package mutating func compare() throws -> [Compared] {
        try Table.moved.map { try self.compare($0) }
    }

    private mutating func compare(_ table: Table) throws -> Compared {
        var (ours, theirs) = (RowCursor(self.source, table), RowCursor(self.target, table))
        var hash = SHA256()
        var rows = 0
        while true {
            let row = try StoreMoveFault.reading(table) { () throws(StorageFailure) in try ours.next() }
            let copy = try StoreMoveFault.writing(table) { () throws(StorageFailure) in try theirs.next() }
            guard row == copy else {
                throw StoreMoveFault.differs(table.name, key: Self.text(ofKey: row ?? copy ?? [], table))
            }
            guard let row else { break }
            rows += 1
            hash.add(row)
            self.progress.add(1)
        }
        return Compared(table: table.name, rows: rows, sha256: Hexadecimal.text(of: hash.value))
    }

    /// The key of a row, for people.
    static func text(ofKey row: [ColumnValue], _ table: Table) -> String {
        table.key.columns.map { column in
            let value =
                switch row[column] {
                case .null: "null"
                case .integer(let number): "\(number)"
                case .text(let text): "\"\(text.prefix(100))\""
                case .bytes(let bytes): "\(Hexadecimal.text(of: Array(bytes.prefix(32))))"
                }
            return "\(table.columns[column].name) \(value)"
        }.joined(separator: ", ")
    }
}

extension SHA256 {
    /// Adds a row: each value after its kind and its length.
    fileprivate mutating func add(_ row: [ColumnValue]) {
        var bytes: [UInt8] = []
        func append(_ number: Int64) {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
            }
        }
        for value in row {
            switch value {
            case .null: bytes.append(0)
            case .integer(let number):
                bytes.append(1)
                append(number)
            case .text(let text):
                bytes.append(2)
                append(Int64(text.utf8.count))
                bytes.append(contentsOf: text.utf8)
            case .bytes(let value):
                bytes.append(3)
                append(Int64(value.count))
                bytes.append(contentsOf: value)
            }
        }
        // SAFETY: the bytes are hashed before the call returns.
        bytes.withUnsafeBytes { self.add($0) }
    }
}
