import Administration
import Foundation
import RecordStore
import StorageContract

/// One move of a store between a data folder and a database.
///
/// The folder is the server's before and after: assets and certificates stay in it. Its mark (`MoveMark`)
/// keeps servers away from the first copied row until the last step, and each step can be done twice.
///
/// 1. Lock the source, and mark the folder with the identity of the store in the database.
/// 2. Copy what the target lacks; compare everything.
/// 3. Complete the target: one transaction begins another life of every database.
/// 4. Write down in the folder where the store is now, and retire the source.
/// 5. Remove the mark.
struct MigrateRun {
    let folder: DataFolder
    let url: String
    let direction: MoveMark.Direction
    var isDryRun = false
    /// Whether what an interrupted move has copied is thrown away.
    var restarts = false

    init(folder: DataFolder, url: String, _ direction: MoveMark.Direction) {
        self.folder = folder
        self.url = url
        self.direction = direction
    }

    private var shownURL: String { DatabaseURL(text: self.url).shown }

    private var serveCommand: String { "tidemark serve --data \(ShellText.quoted(self.folder.path))" }

    /// - Throws: `CommandFailure`, `StoreMoveFault`. What was copied stays for the next run.
    func run() throws -> MoveReport {
        try DataFolderAccess(folder: self.folder).check()
        do {
            return switch self.direction {
            case .toPostgreSQL: try self.intoPostgreSQL()
            case .toFolder: try self.intoFolder()
            }
        } catch let error as StoreMoveError {
            let (source, target) =
                self.direction == .toFolder
                ? (self.shownURL, self.folder.path) : (self.folder.path, self.shownURL)
            throw MoveAdvice.failure(error, from: source, to: target)
        }
    }

    // MARK: Into PostgreSQL

    private func intoPostgreSQL() throws -> MoveReport {
        guard FileManager.default.fileExists(atPath: self.folder.path) else { throw self.folder.hasNoStore }
        let lock = try DataFolderLock(folder: self.folder)
        defer { withExtendedLifetime(lock) {} }
        var mark = try self.knownMark()
        if mark == nil { try self.refuseUnlessFile() }
        let known = try PostgreSQLOpening.identity(self.url)
        guard known == nil || known == mark?.store else { throw StoreMoveError.isNotEmpty }
        let source = self.folder.hasFile ? try EngineOpening.movedStore(self.folder) : nil
        defer { source?.close() }
        if self.isDryRun { return try self.counted(source) }
        if self.restarts, let old = mark, known == nil {
            try PostgreSQLOpening.discardMove(self.url, store: old.store)
            try MoveMark.remove(from: self.folder)
            mark = nil
        }
        var report = self.report
        if known == nil {
            guard let source else { throw self.folder.hasNoStore }
            mark = try self.fillDatabase(from: source, mark, &report)
        }
        // From here on the database has the store, whole.
        try StoreAddress(url: self.url, store: mark?.store ?? "").write(to: self.folder)
        report.kept = try source?.retire()
        EngineOpening.removeReserve(in: self.folder)
        try MoveMark.remove(from: self.folder)
        report.serve = self.serveCommand
        return report
    }

    private func fillDatabase(
        from source: any MovedStore,
        _ known: MoveMark?,
        _ report: inout MoveReport
    ) throws -> MoveMark {
        let mark =
            known ?? MoveMark(direction: .toPostgreSQL, url: self.url, store: StoreAddress.newIdentity())
        if known == nil { try mark.write(to: self.folder) }
        let target: any FilledStore
        do {
            target = try PostgreSQLOpening.filledStore(self.url, store: mark.store)
        } catch {
            // Nothing of ours is there: the folder is as it was.
            if known == nil { try MoveMark.remove(from: self.folder) }
            throw error
        }
        defer { target.close() }
        try self.move(source, target, &report)
        return mark
    }

    private func refuseUnlessFile() throws(CommandFailure) {
        try self.folder.refuseUnlessServable()
        guard !StoreAddress.exists(in: self.folder) else {
            throw CommandFailure(
                .usage,
                "the store of \(self.folder.path) is in PostgreSQL already: the move is complete. Start the server: "
                    + self.serveCommand
            )
        }
        guard self.folder.hasFile else { throw self.folder.hasNoStore }
    }

    // MARK: Into a folder

    private func intoFolder() throws -> MoveReport {
        let isNew = !FileManager.default.fileExists(atPath: self.folder.path)
        if self.isDryRun, isNew { return try self.counted(PostgreSQLOpening.movedStore(self.url)) }
        try self.folder.make()
        let lock = try DataFolderLock(folder: self.folder)
        defer { withExtendedLifetime(lock) {} }
        var mark = try self.knownMark()
        let known = try PostgreSQLOpening.identity(self.url)
        if self.restarts, mark != nil, !self.folder.hasFile, !self.isDryRun {
            try EngineOpening.discardMove(in: self.folder)
            try MoveMark.remove(from: self.folder)
            mark = nil
        }
        if mark == nil { try self.refuseUnlessOwn(known) }
        guard known != nil || (mark != nil && self.folder.hasFile) else {
            throw PostgreSQLOpening.isMissing(self.url)
        }
        guard known == nil || mark == nil || known == mark?.store else {
            throw StoreMoveError.isOfAnotherMove
        }
        let source = known == nil ? nil : try PostgreSQLOpening.movedStore(self.url)
        defer { source?.close() }
        if self.isDryRun { return try self.counted(source) }
        if mark == nil {
            try MoveMark(direction: .toFolder, url: self.url, store: known ?? "").write(to: self.folder)
        }
        var report = self.report
        if let source, !self.folder.hasFile {
            let target = try EngineOpening.filledStore(self.folder)
            defer { target.close() }
            try self.move(source, target, &report)
        }
        // From here on the folder has the store, whole.
        report.kept = try source?.retire()
        try StoreAddress.remove(from: self.folder)
        try MoveMark.remove(from: self.folder)
        report.serve = self.serveCommand
        return report
    }

    /// Refuses a folder that is neither empty nor that of the store.
    private func refuseUnlessOwn(_ identity: String?) throws {
        try self.folder.refuseUnlessServable()
        if self.folder.hasFile {
            guard identity == nil else { throw StoreMoveError.isNotEmpty }
            throw CommandFailure(
                .data,
                "\(self.folder.path) has a store, and \(self.shownURL) has none: nothing is left to move. If this is the store "
                    + "that moves, the move is complete. Start the server: \(self.serveCommand)"
            )
        }
        let address = try StoreAddress.read(from: self.folder)
        let contents = try CopyFolder(making: self.folder.path).contents().filter { $0 != "lock" }
        guard address == nil ? contents.isEmpty : address?.store == identity else {
            throw CommandFailure(
                .data,
                "\(self.folder.path) is neither empty nor the folder of the store in \(self.shownURL). Name the folder of its "
                    + "server, or a new one."
            )
        }
    }

    // MARK: Both ways

    /// The mark of an interrupted move, which has to be this one.
    private func knownMark() throws(CommandFailure) -> MoveMark? {
        guard let mark = try MoveMark.read(from: self.folder) else { return nil }
        guard mark.direction == self.direction, mark.url == self.url || self.restarts else {
            throw mark.isUnfinished(in: self.folder)
        }
        return mark
    }

    private func move(
        _ source: any MovedStore,
        _ target: any FilledStore,
        _ report: inout MoveReport
    ) throws {
        let bar = TerminalProgress()
        var move = StoreMove(from: source, to: target, showProgress: { bar.show($0, of: $1) })
        try move.copy()
        let compared: [StoreMove.Compared]
        do {
            defer { bar.clear() }
            compared = try move.compare()
        }
        report.tables = compared.map {
            MoveReport.Table(table: $0.table, rows: $0.rows, sha256: $0.sha256)
        }
        report.rows = compared.reduce(0) { $0 + $1.rows }
        try self.countAssets(source, &report)
        let numbers: [String: Int64]
        do throws(StorageFailure) {
            numbers = try source.lastNumbers()
        } catch {
            throw StoreMoveError.storage(error)
        }
        try target.complete(lastNumbers: numbers, nowMilliseconds: SystemTime.milliseconds())
    }

    /// The report of a dry run.
    private func counted(_ source: (any MovedStore)?) throws -> MoveReport {
        var report = self.report
        guard let source else { return report }
        for table in Table.moved {
            let rows = try StoreMoveFault.reading(table) { () throws(StorageFailure) in
                try source.count(of: table)
            }
            report.tables.append(MoveReport.Table(table: table.name, rows: rows))
            report.rows += rows
        }
        try self.countAssets(source, &report)
        return report
    }

    private func countAssets(
        _ source: any MovedStore,
        _ report: inout MoveReport
    ) throws(StoreMoveFault) {
        let table = AssetRow.table
        var cursor = RowCursor(source, table)
        while let row = try StoreMoveFault.reading(table, { () throws(StorageFailure) in try cursor.next() })
        {
            guard let size = AssetRow.storedBytes(row) else { continue }
            report.assets += 1
            report.assetBytes += size
        }
    }

    private var report: MoveReport {
        let (source, target) =
            self.direction == .toFolder
            ? (self.shownURL, self.folder.path) : (self.folder.path, self.shownURL)
        return MoveReport(from: source, to: target, rows: 0, tables: [], assets: 0, assetBytes: 0)
    }
}
