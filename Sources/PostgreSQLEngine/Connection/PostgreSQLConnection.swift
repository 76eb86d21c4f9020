import CLibPQ
import Foundation
import StorageContract

/// A connection to a server, used by one thread at a time.
///
/// Statements travel in a pipeline: `send` does not wait, and `query` and `receive` wait for all that was
/// sent before. A statement that fails takes the rest of the pipeline with it, up to the next wait. Each
/// text is prepared once and stays so.
package final class PostgreSQLConnection {
    private enum Expected {
        case preparation(SQL)
        case result(((ResultRows) -> Void)?)
        case end
    }

    private let connection: OpaquePointer
    /// Sends statements that were put off: called before `rows`, `write` and `drain`, while it does not run.
    var beforeSending: (() throws(StorageFailure) -> Void)?
    /// Names of types and users, which rows of records have as numbers.
    let names = RecordNames()
    /// The names of prepared statements.
    private var statements: [SQL: String] = [:]
    private var prepared = 0
    private var expected: [Expected] = []
    /// Bytes that were sent since the last wait.
    private var unreadBytes = 0
    /// Whether the server was told to answer, and its answers are still to be read.
    private var isAnswering = false
    /// Whether nothing can be sent any more.
    package private(set) var isLost = false

    /// So much is sent before answers are read: neither side's buffer may hold up both.
    private static let unreadBytesMax = 512 * 1024

    /// Settings of the session; none of them changes what a statement returns.
    ///
    /// No statement ends because it takes long, whatever the database or the role says: a step of
    /// housekeeping, a command or a move may. A commit is on disk when it is acknowledged; `local` is an
    /// operator's choice. Version 17 added `transaction_timeout`.
    ///
    /// Every statement finds its rows by an index, whatever statistics say or lack. What waits for ever
    /// for a lock or for its client fails instead: a server that stands still holds up others no longer
    /// than that.
    private static let setup = """
        SET statement_timeout = 0;
        SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout';
        SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') = 'off';
        SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off;
        SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan;
        SET lock_timeout = '30s'; SET idle_in_transaction_session_timeout = '15s';
        SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3;
        SET tcp_user_timeout = '15s';
        SET client_min_messages = error; SET bytea_output = hex
        """

    /// Connects, and waits until that has succeeded or failed.
    package init(_ target: ConnectionTarget) throws(PostgreSQLError) {
        let pairs = target.pairs
        guard let connection = Self.connect(pairs.map(\.keyword), pairs.map(\.value)) else {
            throw PostgreSQLError(.lost(nil), "no memory")
        }
        guard PQstatus(connection) == CONNECTION_OK else {
            defer { PQfinish(connection) }
            let message = String(cString: PQerrorMessage(connection)).firstLine
            throw PostgreSQLError(.lost(Self.state(ofMessage: message)), message)
        }
        self.connection = connection
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        let result = PQexec(connection, Self.setup)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK, PQenterPipelineMode(connection) == 1 else {
            throw self.failure(of: result)
        }
    }

    deinit { PQfinish(self.connection) }

    private static func connect(_ keywords: [String], _ values: [String]) -> OpaquePointer? {
        // SAFETY: the copies live until libpq has parsed them, and are freed here.
        let pointers = (keywords + values).map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        // SAFETY: as above; both lists end with null.
        let texts = pointers.map { pointer in pointer.map { UnsafePointer<CChar>($0) } }
        return PQconnectdbParams(
            Array(texts.prefix(keywords.count)) + [nil],
            Array(texts.suffix(values.count)) + [nil],
            0
        )
    }

    /// The condition that the message of a failed connection names.
    ///
    /// libpq keeps no state of a connection that was not made, so there are only the server's words. In
    /// another language than English they tell nothing, and the connection counts as unreachable.
    private static func state(ofMessage message: String) -> SQLState? {
        if message.contains("password authentication failed") || message.contains("no password supplied") {
            return .invalidPassword
        }
        if message.contains("no pg_hba.conf entry")
            || (message.contains("role") && message.contains("does not exist"))
        {
            return .invalidAuthorization
        }
        if message.contains("database"), message.contains("does not exist") { return .unknownDatabase }
        if message.contains("too many clients") || message.contains("too many connections")
            || message.contains("remaining connection slots")
        {
            return .tooManyConnections
        }
        // These are libpq's own words, which are in English here.
        if message.contains("server does not support SSL") { return .tlsMissing }
        if message.contains("certificate verify failed") || message.contains("root certificate file")
            || message.contains("server certificate for")
        {
            return .tlsUntrusted
        }
        return nil
    }

    /// The server's version, such as 150018.
    package var serverVersion: Int { Int(PQserverVersion(self.connection)) }

    /// The number of the session, as the server said it, or whoever stands between.
    package var sessionNumber: Int64 { Int64(PQbackendPID(self.connection)) }

    /// A setting that the server reports with the connection, such as `server_encoding`.
    package func parameter(_ name: String) -> String {
        PQparameterStatus(self.connection, name).map { String(cString: $0) } ?? ""
    }

    /// Whether a caller wants the answer to a statement that was sent.
    var awaitsRows: Bool {
        self.expected.contains { if case .result(.some) = $0 { true } else { false } }
    }

    // MARK: Statements

    /// Sends a statement and does not wait for it.
    ///
    /// `receive` is called with what it returned, in the next call that waits.
    package func send(
        _ sql: SQL,
        _ parameters: [SQLValue] = [],
        receive: ((ResultRows) -> Void)? = nil
    ) throws(PostgreSQLError) {
        guard !self.isLost else { throw PostgreSQLError(.lost(nil), "the connection is lost") }
        if self.isAnswering { try self.readAnswers() }
        let name = try self.name(of: sql)
        let encoded = EncodedParameters(parameters)
        let isSent = encoded.withPointers { count, values, lengths, formats in
            PQsendQueryPrepared(self.connection, name, count, values, lengths, formats, 1)
        }
        guard isSent == 1 else { throw self.failure(of: nil) }
        self.expected.append(.result(receive))
        self.unreadBytes += encoded.count
        if self.unreadBytes > Self.unreadBytesMax { try self.receive() }
    }

    /// Sends a statement, and waits for it and all before it.
    package func query(_ sql: SQL, _ parameters: [SQLValue] = []) throws(PostgreSQLError) -> ResultRows {
        var rows: ResultRows?
        try self.send(sql, parameters) { rows = $0 }
        try self.receive()
        guard let rows else { throw PostgreSQLError(.misused, "a statement without a result") }
        return rows
    }

    /// Waits for all that was sent.
    ///
    /// - Throws: The first failure; what was sent after it was not executed.
    package func receive() throws(PostgreSQLError) {
        try self.leave()
        try self.readAnswers()
    }

    /// Has the server execute what was sent, and reads the answers with the next call.
    package func leave() throws(PostgreSQLError) {
        guard !self.isLost else { throw PostgreSQLError(.lost(nil), "the connection is lost") }
        guard !self.isAnswering, !self.expected.isEmpty else { return }
        guard PQpipelineSync(self.connection) == 1 else { throw self.failure(of: nil) }
        self.expected.append(.end)
        self.isAnswering = true
    }

    private func readAnswers() throws(PostgreSQLError) {
        guard self.isAnswering else { return }
        let expected = self.expected
        self.expected = []
        self.unreadBytes = 0
        self.isAnswering = false
        var first: PostgreSQLError?
        for answer in expected {
            do throws(PostgreSQLError) {
                try self.read(answer)
            } catch {
                if self.isLost { throw first ?? error }
                if first == nil { first = error }
            }
        }
        if let first { throw first }
    }

    private func read(_ expected: Expected) throws(PostgreSQLError) {
        guard let result = PQgetResult(self.connection) else { throw self.failure(of: nil) }
        switch expected {
        case .end:
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_PIPELINE_SYNC else { throw self.failure(of: result) }
        case .preparation(let sql):
            defer { PQclear(result) }
            self.skipEnd()
            guard PQresultStatus(result) == PGRES_COMMAND_OK else {
                self.statements[sql] = nil
                throw self.failure(of: result)
            }
        case .result(let receive):
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                self.skipEnd()
                let rows = ResultRows(result)
                receive?(rows)
            default:
                defer { PQclear(result) }
                let failure = self.failure(of: result)
                if !self.isLost { self.skipEnd() }
                throw failure
            }
        }
    }

    /// Every statement of a pipeline ends with no result.
    private func skipEnd() {
        while let more = PQgetResult(self.connection) { PQclear(more) }
    }

    /// The name of a prepared statement, which is prepared along the way if it has none.
    private func name(of sql: SQL) throws(PostgreSQLError) -> String {
        if let name = self.statements[sql] { return name }
        assert(Dialect.faults(in: sql).isEmpty, "\(Dialect.faults(in: sql)): \(sql.text)")
        self.prepared += 1
        let name = "s\(self.prepared)"
        guard PQsendPrepare(self.connection, name, sql.text, 0, nil) == 1 else {
            throw self.failure(of: nil)
        }
        self.expected.append(.preparation(sql))
        self.unreadBytes += sql.text.utf8.count
        self.statements[sql] = name
        return name
    }

    /// The failure that a result tells of, or the connection.
    private func failure(of result: OpaquePointer?) -> PostgreSQLError {
        let field = result.flatMap { PQresultErrorField($0, Int32(UInt8(ascii: "C"))) }
        let state = field.map { SQLState(rawValue: String(cString: $0)) }
        let text = result.flatMap { PQresultErrorMessage($0) } ?? PQerrorMessage(self.connection)
        let message = text.map { String(cString: $0).firstLine } ?? ""
        let severity = result.flatMap { PQresultErrorField($0, Int32(UInt8(ascii: "V"))) }
        // The server ends the session after such an error, which libpq finds out with the next call.
        let isLast = severity.map { ["FATAL", "PANIC"].contains(String(cString: $0)) } ?? false
        guard PQstatus(self.connection) == CONNECTION_OK, !isLast else {
            self.isLost = true
            return PostgreSQLError(.lost(state), message)
        }
        if let state { return PostgreSQLError(.refused(state), message) }
        return PostgreSQLError(.misused, message)
    }
}
