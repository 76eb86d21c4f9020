internal import Foundation
internal import GRDB

/// An open file: connections, the lock, and what it mirrors.
struct MirrorFile: Sendable {
    let path: String
    let pool: DatabasePool
    /// For `PRAGMA data_version`, which only says what other connections wrote.
    let watch: DatabaseQueue
    let layout: MirrorLayout
    let installation: String
    private let lock: FileLock

    /// Opens or makes a file, and brings its tables to what is declared.
    ///
    /// - Throws: `MirrorError`; the file is as it was.
    init(at path: String, home: String, zones: [String], tables: [MirrorTable]) throws(MirrorError) {
        try Self.check(zones: zones, tables: tables)
        let isThere = try FileHeader.check(path)
        self.path = path
        self.lock = try FileLock(of: path)
        do {
            if !isThere { try Self.make(path, home: home) }
            var configuration = Self.configuration
            self.pool = try DatabasePool(path: path, configuration: configuration)
            let found = try self.pool.read {
                try Row.fetchOne($0, sql: "SELECT home, installation FROM tidemark_state")
            }
            let foundHome: String = found?["home"] ?? ""
            guard foundHome == home else { throw MirrorError.otherDatabase(path: path, found: foundHome) }
            self.installation = found?["installation"] ?? ""
            self.layout = try self.pool.write {
                try MirrorLayout.prepare($0, zones: zones, tables: tables, isNew: !isThere)
            }
            configuration.readonly = true
            self.watch = try DatabaseQueue(path: path, configuration: configuration)
        } catch let error as MirrorError {
            throw error
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Closes the connections, and lets another process keep the file in step.
    func close() {
        try? self.watch.close()
        try? self.pool.close()
        self.lock.release()
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.foreignKeysEnabled = false
        configuration.label = "tidemark-mirror"
        configuration.prepareDatabase { database in
            guard !database.configuration.readonly else { return }
            // A local change that was written is on disk.
            try database.execute(sql: "PRAGMA synchronous = FULL")
        }
        return configuration
    }

    /// Makes the file without a write-ahead log, so that its header is in the file at once.
    private static func make(_ path: String, home: String) throws {
        let queue = try DatabaseQueue(path: path, configuration: self.configuration)
        try queue.write { try SystemTables.create($0, home: home) }
        try queue.close()
    }

    private static func check(zones: [String], tables: [MirrorTable]) throws(MirrorError) {
        var names: Set<String> = []
        for table in tables {
            if let fault = table.fault { throw .invalidTable(table: table.recordType, detail: fault) }
            guard names.insert(table.recordType.lowercased()).inserted else {
                throw .invalidTable(
                    table: table.recordType,
                    detail: "another table has this name; SQLite does not distinguish cases"
                )
            }
        }
        for zone in zones where zone.isEmpty || zone.utf8.count > 255 || zone.hasPrefix("_") {
            throw .invalidZone(
                "'\(zone)' is not the name of a zone of yours: 1 to 255 bytes, without '_' first"
            )
        }
    }

    /// The meaning of SQLite's errors at the opening.
    private static func failure(_ error: any Error, _ path: String) -> MirrorError {
        guard let error = error as? DatabaseError else { return .unusable(path: path, detail: "\(error)") }
        switch error.resultCode {
        case .SQLITE_READONLY, .SQLITE_PERM: return .readOnly(path: path)
        case .SQLITE_NOTADB: return .notAMirror(path: path)
        default: return .unusable(path: path, detail: error.message ?? error.resultCode.description)
        }
    }
}
