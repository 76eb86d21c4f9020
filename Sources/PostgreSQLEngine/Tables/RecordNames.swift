import StorageContract

/// The names of record types and of users by their numbers, as one connection has read them.
///
/// A committed number stands for its name for ever. After a transaction that wrote was taken back all
/// are forgotten: a number of it may be given again.
final class RecordNames {
    private(set) var types: [Int64: LendableName] = [:]
    private(set) var authors: [Int64: LendableName] = [:]

    /// Beyond this number all are forgotten: the memory is bounded.
    private static let namesMax = 100_000

    private static let typesByNumber = SQL(
        #"SELECT number, name FROM tidemark."record_type" WHERE number = ANY($1::bigint[])"#,
        reach: .directory
    )
    private static let authorsByNumber = SQL(
        #"SELECT number, record_name FROM tidemark."author" WHERE number = ANY($1::bigint[])"#,
        reach: .directory
    )

    func forget() {
        self.types = [:]
        self.authors = [:]
    }

    /// Reads the names of those numbers that are not known, in one flight.
    ///
    /// Afterwards all of these are known that exist, until the next call.
    func read(
        types: Set<Int64>,
        authors: Set<Int64>,
        on connection: PostgreSQLConnection
    ) throws(StorageFailure) {
        if self.types.count + self.authors.count > Self.namesMax { self.forget() }
        let newTypes = types.filter { self.types[$0] == nil }
        if !newTypes.isEmpty {
            try connection.write(Self.typesByNumber, [.integers(newTypes.sorted())]) { rows in
                for row in 0..<rows.count {
                    self.types[rows.integer(row, 0)] = LendableName(rows.text(row, 1))
                }
            }
        }
        let newAuthors = authors.filter { self.authors[$0] == nil }
        if !newAuthors.isEmpty {
            try connection.write(Self.authorsByNumber, [.integers(newAuthors.sorted())]) { rows in
                for row in 0..<rows.count {
                    self.authors[rows.integer(row, 0)] = LendableName(rows.text(row, 1))
                }
            }
        }
        if !newTypes.isEmpty || !newAuthors.isEmpty { try connection.drain() }
    }
}

/// A text, and its bytes at an address that stays.
final class LendableName {
    let text: String
    // SAFETY: allocated and written in `init`, unchanged until `deinit` frees it.
    let bytes: UnsafeRawBufferPointer

    init(_ text: String) {
        self.text = text
        let utf8 = Array(text.utf8)
        // SAFETY: as above.
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: utf8.count, alignment: 1)
        bytes.copyBytes(from: utf8)
        self.bytes = UnsafeRawBufferPointer(bytes)
    }

    deinit { self.bytes.deallocate() }
}
