import RecordModel
import StorageContract

/// The requests of a transaction that were not executed before, which are nearly all of them.
///
/// An existing outcome is read when its request needs it.
final class PrefetchedOutcomes {
    private struct Request: Hashable {
        let database: Int64
        let id: [UInt8]
    }

    private var wanted: [Request] = []
    private var absent: Set<Request> = []

    private static let executed = SQL(
        """
        SELECT k.ordinal FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS k(database, id, ordinal)
        JOIN tidemark."request" AS r ON r.database = k.database AND r.id = k.id
        """,
        reach: .directory
    )

    func want(_ request: RequestID, in database: DatabaseID) {
        self.wanted.append(Request(database: database.rawValue, id: request.bytes))
    }

    /// Sends the statement without waiting for it.
    func send(on connection: PostgreSQLConnection) throws(StorageFailure) {
        guard !self.wanted.isEmpty else { return }
        let wanted = self.wanted
        self.wanted = []
        let parameters = [SQLValue.integers(wanted.map(\.database)), .byteStrings(wanted.map(\.id))]
        try connection.write(Self.executed, parameters) { rows in
            self.absent = Set(wanted)
            for row in 0..<rows.count { self.absent.remove(wanted[Int(rows.integer(row, 0)) - 1]) }
        }
    }

    /// Whether a key is known to have no outcome.
    func isAbsent(_ key: [ColumnValue]) -> Bool {
        guard !self.absent.isEmpty, let request = Self.request(key) else { return false }
        return self.absent.contains(request)
    }

    /// Notes outcomes that were written.
    func note(_ rows: [[ColumnValue]]) {
        for row in rows { if let request = Self.request(row) { self.absent.remove(request) } }
    }

    func forget() { self.absent = [] }

    private static func request(_ columns: [ColumnValue]) -> Request? {
        guard columns.count > 1, case .integer(let database) = columns[0], case .bytes(let id) = columns[1]
        else { return nil }
        return Request(database: database, id: id)
    }
}
