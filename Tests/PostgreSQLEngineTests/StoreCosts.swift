import PostgreSQLCluster

@testable import PostgreSQLEngine

/// PostgreSQL's counts of a database: rows that are there, and rows that were read.
struct StoreCosts {
    let database: String

    /// Tables of a few rows, which nobody looks up by a key alone.
    private static let small = ["store", "node", "cluster"]

    /// Rows that statements have read of a table and its indexes.
    struct Reads: Hashable {
        var scans: Int64 = 0
        var rows: Int64 = 0
    }

    /// Rows of every table, counted.
    func rows() throws -> [String: Int] {
        let cluster = try PostgreSQLCluster.running()
        var rows: [String: Int] = [:]
        for table in try self.tables() {
            let found = try cluster.row("SELECT count(*)::text FROM tidemark.\"\(table)\"", in: self.database)
            rows[table] = Int(found[0])
        }
        return rows
    }

    private func tables() throws -> [String] {
        try PostgreSQLCluster.running().row(
            "SELECT string_agg(tablename, ',') FROM pg_tables WHERE schemaname = 'tidemark'",
            in: self.database
        )[0].split(separator: ",").map(String.init)
    }

    /// The rows that were read of every table so far, after the end of all sessions, which tell it then.
    func reads() async throws -> [String: Reads] {
        try await self.endSessions()
        let cluster = try PostgreSQLCluster.running()
        // Indexes count entries, of which a table has fewer rows if some are not looked up.
        let found = try cluster.row(
            """
            SELECT string_agg(t.relname || ',' || t.seq_scan || ',' || t.seq_tup_read + coalesce(t.idx_tup_fetch, 0)
                + coalesce((SELECT sum(i.idx_tup_read) FROM pg_stat_user_indexes AS i WHERE i.relid = t.relid), 0), ';')
            FROM pg_stat_user_tables AS t WHERE t.schemaname = 'tidemark'
            """,
            in: self.database
        )
        var reads: [String: Reads] = [:]
        for line in found[0].split(separator: ";") {
            let parts = line.split(separator: ",")
            reads[String(parts[0])] = Reads(scans: Int64(parts[1]) ?? -1, rows: Int64(parts[2]) ?? -1)
        }
        return reads
    }

    /// How often an index was searched so far, after the end of all sessions.
    func searches(of index: String) async throws -> Int {
        try await self.endSessions()
        let found = try PostgreSQLCluster.running().row(
            "SELECT idx_scan::text FROM pg_stat_user_indexes WHERE indexrelname = '\(index)'",
            in: self.database
        )
        return Int(found[0]) ?? -1
    }

    private func endSessions() async throws {
        let others = """
            SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
        while try PostgreSQLCluster.running().row(others, in: self.database) != ["0"] {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// The difference between two states, by table.
    static func between(_ before: [String: Reads], _ after: [String: Reads]) -> [String: Reads] {
        var difference = after
        for (table, reads) in before {
            difference[table]?.scans -= reads.scans
            difference[table]?.rows -= reads.rows
        }
        return difference
    }

    /// Tables that were read from end to end.
    static func scanned(_ reads: [String: Reads]) -> [String] {
        reads.filter { $0.value.scans > 0 && !Self.small.contains($0.key) }.keys.sorted()
    }

    /// Tables of which more was read in a large store than in a small one, for the same requests.
    ///
    /// Once an hour housekeeping looks at the first tombstone of each zone that has one.
    static func growing(
        _ few: [String: Reads],
        _ many: [String: Reads],
        zonesWithTombstones zones: Int = 0
    ) -> [String] {
        many.keys.sorted().compactMap { table in
            let (small, large) = (few[table]?.rows ?? 0, many[table]?.rows ?? 0)
            // Housekeeping looks at a few rows whenever it is due, so the numbers differ a little.
            let most = small * 3 / 2 + 200 + (table == "tombstone" ? 6 * Int64(zones) : 0)
            return large > most ? "\(table): \(small) rows, then \(large)" : nil
        }
    }
}
