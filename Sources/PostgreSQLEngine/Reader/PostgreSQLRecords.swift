import StorageContract

/// Records of a list; some of them came with it.
///
/// Those that did not are read in pieces, each from the one that is asked for on.
final class PostgreSQLRecords: RecordList {
    private let connection: PostgreSQLConnection
    private let zone: ZoneKey
    private let numbers: [Int64]
    /// Rows in the order of the list, if it brought any.
    private let listed: RecordRows?
    /// The piece that was read last, and the rows of its records.
    private var piece: RecordRows?
    private var rows: [Int64: Int] = [:]
    private var pieceSize = 32

    /// The most records that are read together.
    private static let pieceMax = 256
    /// The approximate number of bytes that their bodies take together.
    private static let pieceBytes: Int64 = 1_024 * 1_024

    init(
        _ numbers: [Int64],
        in zone: ZoneKey,
        listed: RecordRows? = nil,
        on connection: PostgreSQLConnection
    ) {
        self.numbers = numbers
        self.zone = zone
        self.listed = listed
        self.connection = connection
    }

    func record(at offset: Int) throws(StorageFailure) -> NamedRecord? {
        try self.found(offset).map { $0.rows.namedRecord($0.row) }
    }

    func visit(
        at offset: Int,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool? {
        let found = try FeedFailure.wrapping { () throws(StorageFailure) in try self.found(offset) }
        guard let found else { return nil }
        // SAFETY: the rows outlive the visit.
        defer { withExtendedLifetime(found.rows) {} }
        return try visit(found.rows.lent(found.row))
    }

    private func found(_ offset: Int) throws(StorageFailure) -> (rows: RecordRows, row: Int)? {
        if let listed {
            if listed.hasRecord(offset) { return (listed, offset) }
            if listed.isAbsent(offset) { return nil }
        }
        let number = self.numbers[offset]
        if let piece, let row = self.rows[number] { return (piece, row) }
        let numbers = self.missing(from: offset)
        if numbers.count > 1 {
            let piece = try self.connection.records(
                RecordReads.byNumber,
                self.zone.parameters + [.integers(numbers), .integer(Self.pieceBytes)]
            )
            self.rows = [:]
            for row in 0..<piece.count { self.rows[piece.number(row)] = row }
            self.piece = piece
            self.pieceSize = min(Self.pieceMax, 2 * self.pieceSize)
            if let row = self.rows[number] { return (piece, row) }
        }
        let single = try self.connection.records(
            RecordReads.oneByNumber,
            self.zone.parameters + [.integer(number)]
        )
        return single.count == 0 ? nil : (single, 0)
    }

    /// Records from an offset on that did not come with the list.
    private func missing(from offset: Int) -> [Int64] {
        var missing: [Int64] = []
        for next in offset..<self.numbers.count where missing.count < self.pieceSize {
            if let listed, listed.hasRecord(next) || listed.isAbsent(next) { continue }
            missing.append(self.numbers[next])
        }
        return missing
    }
}
