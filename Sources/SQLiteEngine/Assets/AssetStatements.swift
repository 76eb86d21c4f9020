import RecordStore

/// Statements of the writer about assets.
struct AssetStatements {
    let complete, upload, isSent, row: HotStatement
    let insert, setState, renew, addSender, removeSenders, forgetSender, forget: HotStatement
    let recordsNaming: HotStatement
    let addUse, setNamed, removeUse, usesOfRecord, usesOfZone, setUnnamed: HotStatement
    let due, going: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        self.complete = try statement(AssetQueries.complete)
        self.upload = try statement(
            """
            SELECT number FROM asset
            WHERE database = ? AND sha256 = ? AND size = ? AND uploader = ? AND state = 0
            """
        )
        self.isSent = try statement("SELECT 1 FROM asset_user WHERE asset = ? AND author = ?")
        self.row = try statement(
            "SELECT database, sha256, size, state, uploader FROM asset WHERE number = ?"
        )
        self.insert = try statement(
            "INSERT INTO asset (database, sha256, size, uploader, since_ms, state) VALUES (?, ?, ?, ?, ?, 0)"
        )
        self.setState = try statement("UPDATE asset SET state = ?, since_ms = ? WHERE number = ?")
        self.renew = try statement(
            "UPDATE asset SET since_ms = ? WHERE number = ? AND since_ms IS NOT NULL"
        )
        self.addSender = try statement("INSERT OR IGNORE INTO asset_user (asset, author) VALUES (?, ?)")
        self.removeSenders = try statement("DELETE FROM asset_user WHERE asset = ?")
        self.forgetSender = try statement("DELETE FROM asset_user WHERE author = ?")
        self.forget = try statement("DELETE FROM asset WHERE number = ? AND state = 2")
        self.addUse = try statement(
            "INSERT OR IGNORE INTO asset_use (database, zone, record, asset) VALUES (?, ?, ?, ?)"
        )
        self.recordsNaming = try statement(
            "SELECT record FROM asset_use WHERE asset = ? AND database = ? AND zone = ? LIMIT ?"
        )
        self.setNamed = try statement(
            "UPDATE asset SET since_ms = NULL WHERE number = ? AND since_ms IS NOT NULL"
        )
        self.removeUse = try statement(
            "DELETE FROM asset_use WHERE database = ? AND zone = ? AND record = ? AND asset = ?"
        )
        self.usesOfRecord = try statement(
            "SELECT record, asset FROM asset_use WHERE database = ? AND zone = ? AND record = ? LIMIT ?"
        )
        self.usesOfZone = try statement(
            "SELECT record, asset FROM asset_use WHERE database = ? AND zone = ? LIMIT ?"
        )
        self.setUnnamed = try statement(
            """
            UPDATE asset SET since_ms = ?2 WHERE number = ?1 AND state = 1
            AND NOT EXISTS (SELECT 1 FROM asset_use WHERE asset = ?1)
            """
        )
        self.due = try statement(
            """
            SELECT number FROM asset WHERE since_ms <= ?
            AND NOT EXISTS (SELECT 1 FROM asset_use WHERE asset_use.asset = asset.number)
            ORDER BY since_ms LIMIT ?
            """
        )
        self.going = try statement("SELECT number FROM asset WHERE state = 2 ORDER BY number LIMIT ?")
    }
}

enum AssetQueries {
    static let complete = """
        SELECT number FROM asset WHERE database = ? AND sha256 = ? AND size = ? AND state = 1
        """
}

/// An asset, as its row says.
struct AssetRow {
    enum State: Int64 {
        case uploading = 0
        case complete = 1
        /// The file may be gone.
        case going = 2
    }

    let number: AssetNumber
    let database: DatabaseID
    let sha256: [UInt8]
    let size: Int64
    let state: State
    /// The number of the author whose upload it is; 0: the owner of the private database.
    let uploader: Int64
}
