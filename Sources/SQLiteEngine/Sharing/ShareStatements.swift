import GRDBSQLite
import RecordStore

/// The statements of the writer about shares, compiled once.
struct ShareStatements {
    let inZone, insert, delete, removeReaders, refreshReaders, insertRemoval: HotStatement
    let token, insertToken, deleteTokens, deleteOneTimeTokens, hasTokens, place, shareOfRoot: HotStatement
    let cover, setCover, deleteCover, insertChange: HotStatement
    let grants, expired, setReader, removeReader, reader, readers: HotStatement
    let ownerZone, recordNameUser, contactUser: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        self.inZone = try statement(ShareQueries.inZone)
        self.insert = try statement("INSERT INTO share (database, zone, name, root) VALUES (?, ?, ?, ?)")
        self.delete = try statement("DELETE FROM share WHERE number = ?")
        self.removeReaders = try statement("DELETE FROM share_reader WHERE share = ?")
        self.refreshReaders = try statement(
            """
            INSERT INTO view_refresh (reader, database, zone) SELECT reader, ?2, ?3 FROM share_reader
            WHERE share = ?1 ON CONFLICT DO UPDATE SET origin = NULL
            """
        )
        self.insertRemoval = try statement("INSERT OR IGNORE INTO share_removal (share) VALUES (?)")
        self.token = try statement(
            "SELECT token FROM share_token WHERE database = ? AND zone = ? AND root = ? AND participant = ?"
        )
        self.insertToken = try statement(
            "INSERT INTO share_token (database, zone, root, participant, token) VALUES (?, ?, ?, ?, ?)"
        )
        self.deleteTokens = try statement(
            "DELETE FROM share_token WHERE database = ? AND zone = ? AND root = ?"
        )
        self.deleteOneTimeTokens = try statement(
            "DELETE FROM share_token WHERE database = ? AND zone = ? AND root = ? AND participant != ''"
        )
        self.hasTokens = try statement(
            "SELECT EXISTS (SELECT * FROM share_token WHERE database = ? AND zone = ?)"
        )
        self.place = try statement(ShareQueries.place)
        self.shareOfRoot = try statement(ShareQueries.shareOfRoot)
        self.cover = try statement(ShareQueries.cover)
        self.setCover = try statement("INSERT OR REPLACE INTO cover (record, share, since) VALUES (?, ?, ?)")
        self.deleteCover = try statement("DELETE FROM cover WHERE record = ?")
        self.insertChange = try statement(
            """
            INSERT INTO cover_change (database, zone, position, share, kind, record, name, type)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """
        )
        self.grants = try statement(ShareQueries.grants)
        self.expired = try statement(ShareQueries.expiredThrough)
        self.setReader = try statement(
            """
            INSERT INTO share_reader (reader, share, permission, role, since) VALUES (?, ?, ?, ?, 0)
            ON CONFLICT DO UPDATE SET permission = excluded.permission, role = excluded.role
            """
        )
        self.removeReader = try statement("DELETE FROM share_reader WHERE reader = ? AND share = ?")
        self.reader = try statement(
            """
            SELECT database.number FROM user JOIN database ON database.environment = ?2
                AND database.scope = 3 AND database.owner = user.number
            WHERE user.record_name = ?1
            """
        )
        self.readers = try statement("SELECT reader FROM share_reader WHERE share = ?")
        self.ownerZone = try statement(ShareQueries.ownerZone)
        self.recordNameUser = try statement(ShareQueries.userByName)
        self.contactUser = try statement(ShareQueries.userByContact)
    }
}

/// The statements of the writer about what shared databases are told.
struct ViewStatements {
    let news, insertNews, deleteNews, refresh, refreshOfReader, insertRefresh, deleteRefresh: HotStatement
    let view, insertView, touchView, expire, expireReaders, forgetExpiry: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        self.news = try statement(
            """
            SELECT share_news.share, origin, database, zone FROM share_news
            JOIN share ON share.number = share_news.share LIMIT ?
            """
        )
        self.insertNews = try statement(
            """
            INSERT INTO share_news (share, origin) VALUES (?1, ?2)
            ON CONFLICT DO UPDATE SET origin = NULL WHERE origin IS NOT ?2
            """
        )
        self.deleteNews = try statement("DELETE FROM share_news WHERE share = ?")
        let refresh = "SELECT reader, database, zone, origin FROM view_refresh"
        self.refresh = try statement(refresh + " LIMIT ?")
        self.refreshOfReader = try statement(refresh + " WHERE reader = ? LIMIT ?")
        self.insertRefresh = try statement(
            """
            INSERT INTO view_refresh (reader, database, zone, origin) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET origin = NULL WHERE origin IS NOT ?4
            """
        )
        self.deleteRefresh = try statement(
            "DELETE FROM view_refresh WHERE reader = ? AND database = ? AND zone = ?"
        )
        self.view = try statement(
            "SELECT name, number FROM zone WHERE database = ? AND target_database = ? AND target_zone = ?"
        )
        self.insertView = try statement(
            """
            INSERT INTO zone (database, name, number, position, target_database, target_zone)
            VALUES (?1, ?2, ?3, ?3, ?4, ?5)
            """
        )
        self.touchView = try statement("UPDATE zone SET position = ?3 WHERE database = ?1 AND name = ?2")
        // Positions ascend, so the last one is the highest.
        self.expire = try statement(
            """
            INSERT OR REPLACE INTO share_expiry (database, zone, reader, through) VALUES (?, ?, ?, ?)
            """
        )
        self.expireReaders = try statement(
            """
            INSERT OR REPLACE INTO share_expiry (database, zone, reader, through)
            SELECT ?2, ?3, reader, ?4 FROM share_reader WHERE share = ?1
            """
        )
        // Of one reader, or of all: those who read nothing of the zone any more.
        self.forgetExpiry = try statement(
            """
            DELETE FROM share_expiry WHERE database = ?1 AND zone = ?2 AND (?3 IS NULL OR reader = ?3)
            AND NOT EXISTS (
                SELECT * FROM share_reader JOIN share ON share.number = share_reader.share
                WHERE share_reader.reader = share_expiry.reader AND database = ?1 AND zone = ?2
            )
            """
        )
    }
}

/// What writer and readers ask about shares.
enum ShareQueries {
    static let inZone = "SELECT number, name, root FROM share WHERE database = ? AND zone = ?"
    /// A cover by a share that is gone is none.
    static let cover = """
        SELECT share, since FROM cover WHERE record = ?
        AND EXISTS (SELECT * FROM share WHERE number = cover.share)
        """
    /// What a reader has joined in a zone.
    static let grants = """
        SELECT share.number, name, root, permission, role FROM share
        JOIN share_reader ON share_reader.share = share.number
        WHERE share.database = ?1 AND share.zone = ?2 AND reader = ?3
        """
    static let place = "SELECT database, zone, root, participant FROM share_token WHERE token = ?"
    static let shareOfRoot = """
        SELECT number, name, root FROM share WHERE database = ? AND zone = ? AND coalesce(root, '') = ?
        """
    /// The name of a zone, its owner, and from where on tokens are good for a reader of it.
    static let ownerZone = """
        SELECT zone.name, user.record_name, database.environment FROM zone
        JOIN database ON database.number = zone.database JOIN user ON user.number = database.owner
        WHERE zone.database = ? AND zone.number = ?
        """
    static let changes = """
        SELECT position, share, kind, record, name, type FROM cover_change
        WHERE database = ? AND zone = ? AND position > ? ORDER BY position LIMIT ?
        """
    static let userByName = """
        SELECT record_name FROM user JOIN environment ON environment.container = user.container
        WHERE user.record_name = ?1 AND environment.number = ?2 AND user.kind = 0
        """
    static let userByContact = """
        SELECT record_name FROM user_contact JOIN user ON user.number = user_contact.user
        JOIN environment ON environment.container = user_contact.container
        WHERE environment.number = ?3 AND user_contact.kind = ?1 AND user_contact.value = ?2
        """
    static let expiredThrough = """
        SELECT through FROM share_expiry WHERE database = ? AND zone = ? AND reader = ?
        """
}
