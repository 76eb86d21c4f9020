import Administration
import Admission
import Foundation
import Logging
import RecordServer
import RecordStore
import SQLiteEngine
import StorageContract

/// The only code that names SQLite's engine: opening it, the files that it keeps, and its reports.
///
/// `PostgreSQLOpening` opens a folder with a store in PostgreSQL.
enum EngineOpening {
    /// Operations of an operator on the files of a store.
    static let files: any StoreFiles = SQLiteStoreFiles()

    /// How changes of a store are copied one after the other.
    static let following: any StoreFollowing = SQLiteStoreFiles()

    /// A store, and what else of its engine concerns a server.
    struct Opened {
        var store: Store
        /// The format of the store, as the engine counts them.
        var format: Int
        /// Room on the disk that the engine's reserve lacks, and that no other writer should take.
        var reserveMissingBytes: @Sendable () -> Int64
        /// The state of a store on a full disk, for a page of health.
        var whenFull = "only deletes and administration are executed"
        /// Settings of a database that are off, and without which saves are lost or damaged.
        var unsafeSettings: [String] = []
    }

    /// Opens the engine of a data folder for a server.
    ///
    /// Makes it, or migrates it to the current format.
    ///
    /// - Throws: `unavailable`, `data`, `cannotCreate`.
    static func make(
        _ folder: DataFolder,
        settings: Settings,
        faults: FaultLog
    ) throws(CommandFailure) -> Opened {
        if let url = try PostgreSQLOpening.url(of: folder, settings: settings) {
            return try PostgreSQLOpening.make(folder, url, settings: settings, faults: faults)
        }
        var configuration = SQLiteEngineConfiguration(
            directory: folder.path,
            housekeeping: Housekeeping.maker(HousekeepingRules(settings))
        )
        configuration.queues = QueueSettings(settings)
        configuration.reserveBytes = SQLiteEngineConfiguration.serverReserveBytes
        do {
            let log = EngineLog(faults, of: folder)
            let engine = try SQLiteEngine(configuration: configuration, clock: SystemTime.milliseconds) {
                log.tell($0)
            }
            return Opened(
                store: Store(engine, configuration: Self.rules(settings)),
                format: Self.files.format,
                reserveMissingBytes: { engine.reserveMissingBytes }
            )
        } catch {
            throw Self.failure(error, folder)
        }
    }

    /// The rules as the operator set them, for any engine.
    static func rules(_ settings: Settings) -> StoreConfiguration {
        var rules = StoreConfiguration(clock: SystemTime.milliseconds)
        rules.bounds = settings.server.bounds
        rules.quotas = settings.server.storage.quotas
        rules.requestIDRetentionSeconds = settings.server.storage.requestIDRetentionSeconds
        rules.assetGraceSeconds = settings.server.storage.assetGraceSeconds
        return rules
    }

    /// Opens the existing engine of a data folder, for a command beside a server.
    ///
    /// Waits for a server that is starting. `settings` are those of the rules, for a command that saves;
    /// `nil` for the defaults. A reader is for a command that stays, and writes nothing.
    ///
    /// - Throws: `noStore`, `noPermission`, `unavailable`, `data`, `cannotCreate`.
    static func open(
        _ folder: DataFolder,
        settings: Settings? = nil,
        isReader: Bool = false
    ) async throws -> Store {
        let rules = settings.map { Self.rules($0) } ?? StoreConfiguration(clock: SystemTime.milliseconds)
        var configuration = SQLiteEngineConfiguration(
            directory: folder.path,
            housekeeping: Housekeeping.maker()
        )
        configuration.preparation = .none
        configuration.isReader = isReader
        var wait = ServerWait(folder: folder)
        while true {
            try folder.refuseUnlessServable()
            if let store = try PostgreSQLOpening.open(folder, rules: rules) { return store }
            do {
                return Store(
                    try SQLiteEngine(configuration: configuration, clock: SystemTime.milliseconds) { _ in },
                    configuration: rules
                )
            } catch {
                guard let lack = Self.lack(error), try await wait.goesOn(without: lack) else {
                    throw Self.failure(error, folder)
                }
            }
        }
    }

    /// Opens the existing engine of a data folder at once, to complete a command line.
    ///
    /// Returns `nil` if that does not work, for whatever reason.
    static func openForCompletion(_ folder: DataFolder) -> Store? {
        guard (try? folder.refuseUnlessServable()) != nil else { return nil }
        if StoreAddress.exists(in: folder) {
            let rules = StoreConfiguration(clock: SystemTime.milliseconds)
            return (try? PostgreSQLOpening.open(folder, rules: rules)) ?? nil
        }
        var configuration = SQLiteEngineConfiguration(
            directory: folder.path,
            housekeeping: Housekeeping.maker()
        )
        configuration.preparation = .none
        guard
            let engine = try? SQLiteEngine(
                configuration: configuration,
                clock: SystemTime.milliseconds,
                report: { _ in }
            )
        else { return nil }
        return Store(engine, configuration: StoreConfiguration(clock: SystemTime.milliseconds))
    }

    // MARK: Moves

    /// Opens the file of a folder, to be moved to another engine.
    ///
    /// - Throws: `CommandFailure`, `StoreMoveError`.
    static func movedStore(_ folder: DataFolder) throws -> any MovedStore {
        do {
            return try SQLiteMovedStore(in: folder.path)
        } catch let error as SQLiteEngineError {
            throw self.failure(error, folder)
        }
    }

    /// Makes the file that a move fills, or continues it.
    static func filledStore(_ folder: DataFolder) throws(StoreMoveError) -> any FilledStore {
        try SQLiteFilledStore(in: folder.path)
    }

    /// Removes what an interrupted move has left in a folder.
    static func discardMove(in folder: DataFolder) throws(StoreMoveError) {
        try SQLiteFilledStore.discard(in: folder.path)
    }

    /// Lets a folder's store be served with commits missing in its log or file.
    ///
    /// - Returns: The loss, `nil` if there is none, and whether the store can be served.
    static func repair(
        _ folder: DataFolder,
        acceptsLoss: Bool
    ) throws(StoreCopyError) -> (loss: LogLoss?, isDone: Bool) {
        let repair = try StoreRepair(in: folder.path)
        guard let loss = repair.loss else { return (nil, true) }
        if loss.isInFile {
            try repair.dropLog()
        } else {
            guard acceptsLoss else { return (loss, false) }
            try repair.acceptLoss(nowMilliseconds: SystemTime.milliseconds())
        }
        return (loss, true)
    }

    /// Removes the reserve for a full disk, which only a file needs.
    static func removeReserve(in folder: DataFolder) { unlink(folder.path + "/" + StoreFile.reserveName) }

    /// The part that a server may be about to bring; `nil` if waiting does not help.
    private static func lack(_ error: any Error) -> ServerWait.Lack? {
        switch error as? SQLiteEngineError {
        case .isBeingPrepared?: .preparation
        case .isMissing?: .store
        case .formatTooOld?: .currentFormat
        case .formatTooNew?, .formatUnreleased?, .isBackup?, .isDamaged?, .savesMissing?, .diskFull?,
            .cannotOpen?, nil:
            nil
        }
    }

    /// The error for a file that is not a complete database.
    static func isDamaged(_ path: String, code: Int32) -> CommandFailure {
        CommandFailure(
            .data,
            "\(path) is damaged, or not a database (SQLite error \(code)). Move its folder away, and restore a backup: "
                + "tidemark restore --from BACKUP --data DIR"
        )
    }

    /// The error for data that a version before the first release has written.
    static func formatUnreleased(_ data: String) -> CommandFailure {
        CommandFailure(
            .unavailable,
            "\(data) is of a version before 0.1.0, which this version can't read. With the version that wrote it, "
                + "copy what you need (tidemark zone export, tidemark records export), and import that into a new store."
        )
    }

    /// The error for a database that could not be copied.
    static func cannotCopy(code: Int32) -> CommandFailure {
        CommandFailure(
            .unavailable,
            "the database cannot be copied (SQLite error \(code)). Check for a full disk or wrong owners, and try again."
        )
    }

    private static func failure(_ error: any Error, _ folder: DataFolder) -> CommandFailure {
        guard let error = error as? SQLiteEngineError else {
            return CommandFailure(.unavailable, "the data in \(folder.path) cannot be opened: \(error).")
        }
        switch error {
        case .isMissing: return folder.hasNoStore
        case .formatTooNew(let found, let known):
            return CommandFailure(
                .unavailable,
                "the data in \(folder.path) has format \(found), and this version knows \(known) and older. "
                    + "Use the version that wrote it, or a newer one."
            )
        case .formatTooOld(let found, let known):
            return CommandFailure(
                .unavailable,
                "the data in \(folder.path) has format \(found), and this version works with \(known). Back it up, and start "
                    + "the server of this version, which migrates it: tidemark serve --data \(ShellText.quoted(folder.path))"
            )
        case .formatUnreleased: return Self.formatUnreleased("the data in \(folder.path)")
        case .isBeingPrepared:
            return CommandFailure(
                .unavailable,
                "a server is still preparing the data in \(folder.path). Try again."
            )
        case .isBackup: return DataFolder.isBackup(folder.path)
        case .isDamaged(let path, let code): return Self.isDamaged(path, code: code)
        case .savesMissing(let loss): return LossAdvice.failure(loss, in: folder)
        case .diskFull(let path):
            return CommandFailure(
                .unavailable,
                "the disk of \(path) is full, or takes no more. Make room, and start again."
            )
        case .cannotOpen(let path, let reason):
            return CommandFailure(.cannotCreate, "\(path) cannot be opened: \(reason).")
        }
    }
}

extension HousekeepingRules {
    /// The operator's choices.
    init(_ settings: Settings) {
        self.init()
        self.requestIDRetentionSeconds = settings.server.storage.requestIDRetentionSeconds
        self.tombstoneRetentionSeconds = settings.server.storage.tombstoneRetentionSeconds
    }
}

extension QueueSettings {
    /// The operator's choices.
    init(_ settings: Settings) {
        self.init()
        self.waitingRequestsMax = settings.writer.requestsMax
        self.waitingBytesMax = settings.writer.bytesMax
        self.writerWaitNanoseconds = Int64(settings.writer.waitMilliseconds) * 1_000_000
        self.readThreads = settings.writer.readThreads
        self.readerWaitNanoseconds = Int64(settings.writer.readerWaitMilliseconds) * 1_000_000
    }
}
