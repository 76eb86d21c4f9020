import CLibPQ

/// The result of a statement: rows of binary values, or how many rows it changed.
///
/// Used by the thread that has the connection.
package final class ResultRows {
    private let result: OpaquePointer

    /// Takes over the result.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(self.result) }

    package var count: Int { Int(PQntuples(self.result)) }

    package var columnsCount: Int { Int(PQnfields(self.result)) }

    package var isEmpty: Bool { self.count == 0 }

    /// Rows that the statement wrote or deleted.
    package var changesCount: Int { Int(String(cString: PQcmdTuples(self.result))) ?? 0 }

    /// The server's name for what it did, such as `COMMIT`.
    package var command: String { String(cString: PQcmdStatus(self.result)) }

    package func isNull(_ row: Int, _ column: Int) -> Bool {
        PQgetisnull(self.result, Int32(row), Int32(column)) == 1
    }

    /// The bytes of a value, for as long as this object lives; none if it is null.
    // SAFETY: the memory is the result's, which lives as long as this object.
    func lent(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        let count = Int(PQgetlength(self.result, Int32(row), Int32(column)))
        // SAFETY: as above.
        return UnsafeRawBufferPointer(
            start: PQgetvalue(self.result, Int32(row), Int32(column)),
            count: count
        )
    }

    /// An integer of two, four or eight bytes, or a Boolean; 0 for null.
    package func integer(_ row: Int, _ column: Int) -> Int64 {
        let value = self.lent(row, column)
        // Nearly all are of eight bytes.
        if value.count == 8 { return Int64(bigEndian: value.loadUnaligned(as: Int64.self)) }
        guard let first = value.first else { return 0 }
        // The sign of the first byte is that of the number.
        return value.dropFirst().reduce(value.count == 1 ? Int64(first) : Int64(Int8(bitPattern: first))) {
            $0 << 8 | Int64($1)
        }
    }

    package func text(_ row: Int, _ column: Int) -> String {
        String(decoding: self.lent(row, column), as: UTF8.self)
    }

    package func bytes(_ row: Int, _ column: Int) -> [UInt8] { [UInt8](self.lent(row, column)) }

    package func optionalInteger(_ row: Int, _ column: Int) -> Int64? {
        self.isNull(row, column) ? nil : self.integer(row, column)
    }

    package func optionalText(_ row: Int, _ column: Int) -> String? {
        self.isNull(row, column) ? nil : self.text(row, column)
    }
}
