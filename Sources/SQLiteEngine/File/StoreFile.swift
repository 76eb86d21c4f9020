import Foundation
import GRDB
package import StorageContract

/// An operator's operations on the file of SQLite.
package struct SQLiteStoreFiles: StoreFiles {
    package init() {}

    package var format: Int { StoreFile.format }

    package var name: String { StoreFile.name }

    package var names: [String] {
        [
            StoreFile.name, StoreFile.name + "-wal", StoreFile.name + "-shm", SyncedNote.name,
            StoreFile.reserveName,
        ]
    }

    package func source(in directory: String) throws(StoreCopyError) -> any StoreSource {
        try StoreFile(in: directory)
    }

    package func copy(ofBackup path: String) throws(StoreCopyError) -> any StoreCopy {
        try DatabaseCopy(ofBackup: path)
    }
}

extension SQLiteStoreFiles: StoreFollowing {
    package func follow(
        _ directory: String,
        clock: @escaping @Sendable () -> Int64
    ) throws(StoreCopyError) -> any FollowedStore {
        try StoreFollower(in: directory, clock: clock)
    }

    package func add(changes path: String, to copy: String) throws(StoreCopyError) {
        try PageFile.apply(path, to: copy)
    }
}

/// The file of a store, for copies while a server may be writing to it.
package final class StoreFile: StoreSource {
    private let reader: DatabaseQueue

    /// Pages copied between two calls of `progress`: 4 MiB.
    private static let pagesPerStep: CInt = 1_024

    /// Name of the file in the folder of a store.
    package static let name = DatabaseFile.name

    /// Name of the server's reserve in the same folder: see DiskReserve.
    package static let reserveName = "reserve"

    /// The format number that a server of this version uses.
    package static var format: Int { Migrations.formatKnown }

    package static func path(in directory: String) -> String { directory + "/" + self.name }

    /// Opens the file of a folder for reading.
    ///
    /// - Throws: `isMissing`, `isBackup`.
    package init(in directory: String) throws(StoreCopyError) {
        guard FileManager.default.fileExists(atPath: Self.path(in: directory)) else { throw .isMissing }
        self.reader = try StoreCopyError.wrapping {
            let file = try DatabaseFile(
                configuration: SQLiteEngineConfiguration(directory: directory, housekeeping: nil)
            )
            try file.refuseLoss()
            return try file.openReader()
        }
        guard try !self.read(BackupMark.isOn) else { throw .isBackup }
    }

    /// Sizes of a copy and of the referenced assets, in bytes.
    package func size() throws(StoreCopyError) -> (database: Int64, assets: Int64) {
        try self.read { database in
            let pages = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            let pageBytes = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0
            let assets = try Int64.fetchOne(database, sql: "SELECT sum(size) FROM asset WHERE state = 1")
            return (pages * pageBytes, assets ?? 0)
        }
    }

    /// Copies the store as it is at one moment, with every acknowledged change.
    ///
    /// Writers continue meanwhile. During the copy, the log of the store is not emptied.
    ///
    /// Replaces the file at the path. `progress` is called with the bytes since the last call.
    ///
    /// - Durability: none.
    package func copy(
        to path: String,
        progress: (Int) -> Void
    ) throws(StoreCopyError) -> any StoreCopy {
        try StoreCopyError.wrapping {
            try withoutActuallyEscaping(progress) { progress in
                try self.reader.read { source in
                    // The snapshot begins with the first row that is read. In a snapshot, SQLite
                    // does not restart the copy after other connections' writes.
                    _ = try Int.fetchOne(source, sql: "SELECT count(*) FROM sqlite_master")
                    try Self.copy(source, to: path, progress: progress)
                }
            }
        }
        return try DatabaseCopy(marking: path)
    }

    /// Copies the pages of the transaction's snapshot to a file, which is replaced.
    static func copy(_ source: Database, to path: String, progress: @escaping (Int) -> Void) throws {
        try DatabaseCopy.removeFiles(at: path)
        var configuration = SQLiteProcess.configuration("tidemark.copy")
        configuration.prepareDatabase { database in
            // An incomplete copy is never used, so it needs no syncs.
            try database.execute(sql: "PRAGMA synchronous = OFF")
            _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = OFF")
        }
        let target = try SQLiteProcess.open(path, configuration)
        let pageBytes = try Int.fetchOne(source, sql: "PRAGMA page_size") ?? 0
        var remaining = try Int.fetchOne(source, sql: "PRAGMA page_count") ?? 0
        try target.writeWithoutTransaction { target in
            try source.backup(to: target, pagesPerStep: Self.pagesPerStep) { step in
                progress((remaining - step.remainingPageCount) * pageBytes)
                remaining = step.remainingPageCount
            }
        }
        try target.close()
    }

    /// Whether the store still has the complete asset.
    package func has(_ number: AssetNumber) throws(StoreCopyError) -> Bool {
        try self.read { try TableStatements($0).isStored(number) }
    }

    func read<Value>(_ read: (Database) throws -> Value) throws(StoreCopyError) -> Value {
        try StoreCopyError.wrapping { try self.reader.inDatabase(read) }
    }
}

extension StoreCopyError {
    static func wrapping<Value>(_ body: () throws -> Value) throws(StoreCopyError) -> Value {
        do {
            return try body()
        } catch let error as StoreCopyError {
            throw error
        } catch is FormatUnreleased {
            throw .formatUnreleased
        } catch let error as DatabaseError {
            throw StoreCopyError(error.extendedResultCode)
        } catch let error as StorageFailure {
            throw StoreCopyError(ResultCode(rawValue: error.code))
        } catch {
            throw .failed(code: 0)
        }
    }

    private init(_ code: ResultCode) {
        if code.primaryResultCode == .SQLITE_FULL {
            self = .diskFull
        } else if [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(code.primaryResultCode) {
            self = .isDamaged(code: code.rawValue)
        } else {
            self = .failed(code: code.rawValue)
        }
    }
}
