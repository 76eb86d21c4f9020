/// The cluster of a connection, and its point in history.
struct ClusterFacts: Hashable {
    /// Assigned by `initdb`; the same on a standby and in a copy of the files.
    let system: Int64
    /// Changes with each promotion, and with each recovery that ended early.
    let timeline: Int64
    /// The OID of the store's table; it changes when a dump is restored.
    let tables: Int64
    /// When the server process started, in microseconds.
    let postmaster: Int64
    /// The end of the log.
    let logEnd: Int64

    static let sql = SQL(
        """
        SELECT (SELECT system_identifier FROM pg_control_system()),
            substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), 'tidemark.store'::regclass::oid::bigint,
            (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint,
            (pg_current_wal_lsn() - '0/0')::bigint
        """,
        reach: .store
    )

}

extension ClusterFacts {
    init(_ rows: ResultRows) {
        self.init(
            system: rows.integer(0, 0),
            timeline: Int64(rows.text(0, 1), radix: 16) ?? 0,
            tables: rows.integer(0, 2),
            postmaster: rows.integer(0, 3),
            logEnd: rows.integer(0, 4)
        )
    }
}

/// The row of the cluster that the store's history belongs to.
struct ClusterRow: Hashable {
    /// 0 in a new store.
    let system: Int64
    let timeline: Int64
    let tables: Int64

    static let lock = SQL(
        "SELECT system, timeline, tables FROM tidemark.cluster WHERE id = 1 FOR UPDATE",
        reach: .directory
    )
    /// Its acknowledgement means that a synchronous standby has everything before it.
    static let write = SQL(
        """
        UPDATE tidemark.cluster SET system = $1, timeline = $2, tables = $3, barriers = barriers + 1
        WHERE id = 1
        """,
        reach: .directory
    )

}

extension ClusterRow {
    init(_ rows: ResultRows) {
        let isThere = !rows.isEmpty
        self.init(
            system: isThere ? rows.integer(0, 0) : 0,
            timeline: isThere ? rows.integer(0, 1) : 0,
            tables: isThere ? rows.integer(0, 2) : 0
        )
    }
}

/// An acknowledged commit: a position of a database that the store must still have.
struct AcknowledgedCommit: Hashable {
    let database: Int64
    let position: Int64

    static let position = SQL(
        #"SELECT position FROM tidemark."database" WHERE number = $1"#,
        reach: .directory
    )
}

/// The history of the cluster, compared with a server's knowledge of it.
enum ClusterHistory: Hashable {
    /// Every acknowledged commit is there.
    case whole
    /// Commits that were acknowledged to clients may be lost.
    case mayHaveGoneBack(Reason)

    enum Reason: String, Hashable {
        case otherCluster = "the store is in another cluster than before"
        case restored = "the tables were restored"
        case promoted = "a standby was promoted, and no server that ran saw that it has all commits"
        case wentBack = "commits are gone that were acknowledged"
    }

    /// - Parameters:
    ///   - facts: The current facts of the cluster.
    ///   - row: The cluster as the store last recorded it.
    ///   - known: The facts that this server saw last; `nil` if it has just started.
    ///   - hasAcknowledged: Whether the last commit that this server acknowledged is there.
    ///   - isSynchronous: Whether every commit waited for a standby.
    init(
        _ facts: ClusterFacts,
        row: ClusterRow,
        known: ClusterFacts?,
        hasAcknowledged: Bool,
        isSynchronous: Bool
    ) {
        guard row.system != 0 else {
            self = .whole
            return
        }
        guard row.system == facts.system else {
            self = .mayHaveGoneBack(.otherCluster)
            return
        }
        guard row.tables == facts.tables else {
            self = .mayHaveGoneBack(.restored)
            return
        }
        guard hasAcknowledged else {
            self = .mayHaveGoneBack(.wentBack)
            return
        }
        if row.timeline == facts.timeline {
            let isBehind = known.map { $0.timeline == facts.timeline && $0.logEnd > facts.logEnd } ?? false
            self = isBehind ? .mayHaveGoneBack(.wentBack) : .whole
        } else {
            let isWitness = isSynchronous && known?.timeline == row.timeline
            self = isWitness && row.timeline < facts.timeline ? .whole : .mayHaveGoneBack(.promoted)
        }
    }
}
