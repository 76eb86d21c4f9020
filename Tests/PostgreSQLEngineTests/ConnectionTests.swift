import PostgreSQLCluster
import Testing

@testable import PostgreSQLEngine

/// libpq behind typed values and errors, against a real server.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionTests {
    private static func connection() throws -> PostgreSQLConnection {
        try PostgreSQLConnection(PostgreSQLCluster.running().target(database: "postgres"))
    }

    private static func sql(_ text: String) -> SQL { SQL(text, reach: .store) }

    @Test
    func `every kind of value comes back as it went`() throws {
        let connection = try Self.connection()
        let rows = try connection.query(
            Self.sql("SELECT $1::bigint, $2::text, $3::bytea, $4::bigint, $5::text, $6::bytea, true, 7::int"),
            [.integer(.min), .text("ä\u{1F600}"), .bytes([0, 255, 1]), .null, .text(""), .bytes([])]
        )
        #expect(rows.count == 1)
        #expect(rows.integer(0, 0) == .min)
        #expect(rows.text(0, 1) == "ä\u{1F600}")
        #expect(rows.bytes(0, 2) == [0, 255, 1])
        #expect(rows.isNull(0, 3) && !rows.isNull(0, 4) && !rows.isNull(0, 5))
        #expect(rows.text(0, 4) == "" && rows.bytes(0, 5) == [])
        #expect(rows.integer(0, 6) == 1 && rows.integer(0, 7) == 7)
    }

    @Test
    func `arrays keep their order, their nulls and their emptiness`() throws {
        let connection = try Self.connection()
        let rows = try connection.query(
            Self.sql(
                """
                SELECT a, b, c FROM unnest($1::bigint[], $2::text[], $3::bytea[]) WITH ORDINALITY
                AS u(a, b, c, place) ORDER BY place
                """
            ),
            [.integers([3, nil, -1]), .texts(["z", "", nil]), .byteStrings([nil, [], [9, 0]])]
        )
        #expect((0..<3).map { rows.optionalInteger($0, 0) } == [3, nil, -1])
        #expect((0..<3).map { rows.optionalText($0, 1) } == ["z", "", nil])
        #expect(rows.isNull(0, 2) && rows.bytes(1, 2) == [] && rows.bytes(2, 2) == [9, 0])
        let none = try connection.query(Self.sql("SELECT cardinality($1::bigint[])"), [.integers([Int64]())])
        #expect(none.integer(0, 0) == 0)
    }

    @Test
    func `statements of a pipeline are received in their order, with one wait`() throws {
        let connection = try Self.connection()
        var received: [Int64] = []
        for number in 0..<500 {
            try connection.send(Self.sql("SELECT $1::bigint"), [.integer(Int64(number))]) {
                received.append($0.integer(0, 0))
            }
        }
        #expect(received.isEmpty)
        try connection.receive()
        #expect(received == Array(0..<500))
    }

    @Test
    func `a pipeline larger than the buffers of both sides is no deadlock`() throws {
        let connection = try Self.connection()
        let bytes = [UInt8](repeating: 7, count: 300_000)
        var received = 0
        for _ in 0..<40 {
            try connection.send(Self.sql("SELECT $1::bytea"), [.bytes(bytes)]) { rows in
                if rows.bytes(0, 0) == bytes { received += 1 }
            }
        }
        try connection.receive()
        #expect(received == 40)
    }

    @Test
    func `a failure takes the rest of its pipeline along, and the connection goes on`() throws {
        let connection = try Self.connection()
        var received: [String] = []
        try connection.send(Self.sql("SELECT 1")) { _ in received.append("before") }
        try connection.send(Self.sql("SELECT 1 / $1::bigint"), [.integer(0)]) { _ in received.append("fault")
        }
        try connection.send(Self.sql("SELECT 2")) { _ in received.append("after") }
        let error = #expect(throws: PostgreSQLError.self) { try connection.receive() }
        #expect(error?.kind == .refused(SQLState(rawValue: "22012")))
        #expect(received == ["before"])
        // Statements behind the failure are prepared when they are needed again.
        #expect(try connection.query(Self.sql("SELECT 2")).integer(0, 0) == 2)
        #expect(!connection.isLost)
    }

    @Test
    func `a statement that cannot be prepared says why`() throws {
        let connection = try Self.connection()
        let error = #expect(throws: PostgreSQLError.self) {
            try connection.query(Self.sql("SELECT * FROM nothing_of_that_name"))
        }
        #expect(error?.state == SQLState(rawValue: "42P01"))
        #expect(error?.message.contains("nothing_of_that_name") == true)
        #expect(try connection.query(Self.sql("SELECT 1")).integer(0, 0) == 1)
    }

    @Test
    func `a server that ends the session leaves a lost connection, and nothing was committed`() throws {
        let connection = try Self.connection()
        let name = try PostgreSQLCluster.running().emptyDatabase()
        let victim = try PostgreSQLConnection(PostgreSQLCluster.running().target(database: name))
        _ = try victim.query(Self.sql("CREATE TABLE t (n bigint)"))
        let session = try victim.query(Self.sql("SELECT pg_backend_pid()")).integer(0, 0)
        try victim.send(Self.sql("BEGIN"))
        _ = try victim.query(Self.sql("INSERT INTO t VALUES (1)"))
        _ = try connection.query(Self.sql("SELECT pg_terminate_backend($1::int8::int4)"), [.integer(session)])
        let error = #expect(throws: PostgreSQLError.self) {
            // The first may still be written into a socket that nobody reads.
            for _ in 0..<3 { _ = try victim.query(Self.sql("COMMIT")) }
        }
        guard case .lost? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(victim.isLost)
        #expect(throws: PostgreSQLError.self) { try victim.query(Self.sql("SELECT 1")) }
        let other = try PostgreSQLConnection(PostgreSQLCluster.running().target(database: name))
        #expect(try other.query(Self.sql("SELECT count(*) FROM t")).integer(0, 0) == 0)
    }

    @Test(arguments: ["22012", "40001", "XX001", "00000", "0A000", "53100"])
    func `a state is a number and back`(state: String) {
        let number = SQLState(rawValue: state).number
        #expect(SQLState(number: number)?.rawValue == (state == "00000" ? nil : state))
    }

    @Test
    func `states mean what the contract says`() {
        func failure(_ state: String) -> StorageFailureKind {
            StorageFailureKind(PostgreSQLError(.refused(SQLState(rawValue: state)), ""))
        }
        #expect(failure("40001") == .conflict && failure("40P01") == .conflict)
        #expect(failure("53100") == .unavailable && failure("57P01") == .unavailable)
        #expect(failure("25006") == .unavailable && failure("55P03") == .unavailable)
        #expect(failure("23505") == .unexpected && failure("42P01") == .unexpected)
        #expect(StorageFailureKind(PostgreSQLError(.lost(nil), "")) == .conflict)
    }
}
