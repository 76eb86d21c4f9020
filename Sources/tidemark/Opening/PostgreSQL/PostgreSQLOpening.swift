import Administration
import Admission
import Foundation
import Logging
import PostgreSQLEngine
import RecordServer
import RecordStore
import StorageContract

/// The opening of a store in PostgreSQL; `PostgreSQLLog` logs the reports of its engine.
enum PostgreSQLOpening {
    /// The URL of the database that a server of a folder uses; `nil` if its store is SQLite's file.
    ///
    /// - Throws: `usage` if the settings and the folder do not agree.
    static func url(of folder: DataFolder, settings: Settings) throws(CommandFailure) -> String? {
        let address = try StoreAddress.read(from: folder)
        let isWanted = settings.engine == .postgres || settings.databaseURL != nil
        guard isWanted || (address != nil && settings.engine == nil) else {
            guard address == nil else {
                throw CommandFailure(
                    .usage,
                    "the store of \(folder.path) is in PostgreSQL. Leave out --engine, or name another folder."
                )
            }
            return nil
        }
        guard !folder.hasFile else {
            throw CommandFailure(
                .usage,
                "the store of \(folder.path) is an SQLite file. Move it into PostgreSQL first: "
                    + "tidemark migrate --from \(ShellText.quoted(folder.path)) --to URL"
            )
        }
        guard let url = settings.databaseURL?.text ?? address?.url else {
            throw CommandFailure(
                .usage,
                "engine postgres needs a database: --database-url postgresql://USER@HOST/DATABASE"
            )
        }
        return url
    }

    /// Checks settings, server and database, before anything is made.
    static func check(_ folder: DataFolder, settings: Settings) throws(CommandFailure) {
        guard let url = try self.url(of: folder, settings: settings) else { return }
        let target = try self.target(url)
        try self.attempt { () throws(PostgreSQLEngineError) in try PostgreSQLEngine.check(target) }
    }

    /// Opens the store for a server, and makes its tables if there are none.
    static func make(
        _ folder: DataFolder,
        _ url: String,
        settings: Settings,
        faults: FaultLog
    ) throws(CommandFailure) -> EngineOpening.Opened {
        let target = try self.target(url)
        if target.isUnverified {
            faults.logger.warning(
                "the connection to PostgreSQL does not check who answers",
                metadata: [
                    LogKeys.database: "\(target.text)",
                    LogKeys.advice: "Add sslmode=verify-full and sslrootcert=FILE to the URL.",
                ]
            )
        }
        // The folder is locked: whoever had this name has ended.
        let name = "\(ProcessInfo.processInfo.hostName):\(folder.path)"
        var configuration = PostgreSQLEngineConfiguration(
            target: target,
            role: .server(node: name),
            housekeeping: Housekeeping.maker(HousekeepingRules(settings))
        )
        configuration.isSynchronous = settings.databaseSync == .required
        configuration.usesDatabaseClock = true
        let log = PostgreSQLLog(target, faults)
        configuration.notice = { log.tell($0) }
        let assets = SharedAssets(folder)
        if settings.sharedAssets == .required {
            configuration.admission = { node, others in
                assets.admits(SharedAssets.Server(node), beside: others.map(SharedAssets.Server.init))
            }
        }
        configuration.queues = QueueSettings(settings)
        let identity = try self.attempt { () throws(PostgreSQLEngineError) in
            try PostgreSQLEngine.prepare(target)
        }
        try self.note(identity, url, in: folder)
        let engine = try self.engine(configuration, assets, log)
        return EngineOpening.Opened(
            store: Store(engine, configuration: EngineOpening.rules(settings)),
            format: Int(StoreTables.format),
            reserveMissingBytes: { 0 },
            whenFull: "PostgreSQL's disk has no room, and no change is executed",
            unsafeSettings: engine.unsafeSettings
        )
    }

    /// Opens the engine of a server, once it is known which servers have its folder of assets.
    private static func engine(
        _ configuration: PostgreSQLEngineConfiguration,
        _ assets: SharedAssets,
        _ log: PostgreSQLLog
    ) throws(CommandFailure) -> PostgreSQLEngine {
        var isWaiting = false
        while true {
            do throws(PostgreSQLEngineError) {
                return try PostgreSQLEngine(configuration: configuration, clock: SystemTime.milliseconds) {
                    log.tell($0)
                }
            } catch {
                guard case .notAdmitted = error else { throw self.failure(error) }
                guard case .undecided(let name) = assets.verdict else {
                    throw assets.verdict.refusal ?? self.failure(error)
                }
                if !isWaiting { log.tellWaiting(for: name) }
                isWaiting = true
                usleep(500_000)
            }
        }
    }

    /// Opens the store for a command beside a server; `nil` if the folder's store is not in PostgreSQL.
    static func open(_ folder: DataFolder, rules: StoreConfiguration) throws(CommandFailure) -> Store? {
        guard let address = try StoreAddress.read(from: folder) else { return nil }
        let configuration = PostgreSQLEngineConfiguration(
            target: try self.target(address.url),
            role: .command(makesTables: false),
            housekeeping: Housekeeping.maker()
        )
        let engine = try self.attempt { () throws(PostgreSQLEngineError) in
            try PostgreSQLEngine(configuration: configuration, clock: SystemTime.milliseconds) { _ in }
        }
        return Store(engine, configuration: rules)
    }

    // MARK: Moves

    /// The identity of the store in a database; `nil` if it has none, or an unfinished one.
    static func identity(_ url: String) throws(CommandFailure) -> String? {
        let target = try self.target(url)
        return try self.attempt { () throws(PostgreSQLEngineError) in try PostgreSQLEngine.identity(target) }
            .map { Hexadecimal.text(of: $0) }
    }

    /// Opens the store of a database, to be moved to a file.
    ///
    /// - Throws: `CommandFailure`, `StoreMoveError`.
    static func movedStore(_ url: String) throws -> any MovedStore {
        let target = try self.target(url)
        do {
            return try PostgreSQLMovedStore(target)
        } catch let error as PostgreSQLEngineError {
            throw self.failure(error)
        }
    }

    /// Makes the tables that a move fills, or continues it.
    ///
    /// - Throws: `CommandFailure`, `StoreMoveError`.
    static func filledStore(_ url: String, store: String) throws -> any FilledStore {
        let target = try self.target(url)
        do {
            return try PostgreSQLFilledStore(target, identity: Hexadecimal.bytes(of: store))
        } catch let error as PostgreSQLEngineError {
            throw self.failure(error)
        }
    }

    /// Removes the tables that an interrupted move of a store has left.
    static func discardMove(_ url: String, store: String) throws(CommandFailure) {
        let target = try self.target(url)
        try self.attempt { () throws(PostgreSQLEngineError) in
            try PostgreSQLFilledStore.discard(target, identity: Hexadecimal.bytes(of: store))
        }
    }

    /// The error for a database without a store.
    static func isMissing(_ url: String) -> CommandFailure {
        self.failure(.isMissing(target: DatabaseURL(text: url).shown))
    }

    /// The name of a code that an engine has for its operator.
    static func text(ofCode code: Int32) -> String {
        // SQLite's codes are smaller than any state that is a failure.
        guard code > 40_000, let state = SQLState(number: code) else { return "SQLite's error \(code)" }
        return "PostgreSQL's state \(state.rawValue)"
    }

    /// Writes down where the store is, unless the folder belongs to another one.
    ///
    /// The rows name the files of assets in the folder: another store has other files.
    private static func note(
        _ identity: [UInt8],
        _ url: String,
        in folder: DataFolder
    ) throws(CommandFailure) {
        let store = Hexadecimal.text(of: identity)
        let known = try StoreAddress.read(from: folder)
        guard known == nil || known?.store == store else {
            throw CommandFailure(
                .data,
                "\(folder.path) belongs to another store than the one in this database. Name the database that it "
                    + "had before, or a new folder with --data."
            )
        }
        let address = StoreAddress(url: url, store: store)
        if known != address { try address.write(to: folder) }
    }

    private static func target(_ url: String) throws(CommandFailure) -> ConnectionTarget {
        do throws(PostgreSQLError) {
            return try ConnectionTarget(url)
        } catch {
            throw self.failure(.badURL(reason: error.message))
        }
    }

    private static func attempt<Value>(
        _ body: () throws(PostgreSQLEngineError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(PostgreSQLEngineError) {
            return try body()
        } catch {
            throw self.failure(error)
        }
    }

    // MARK: Errors

    private static func failure(_ error: PostgreSQLEngineError) -> CommandFailure {
        switch error {
        case .badURL(let reason):
            return CommandFailure(
                .usage,
                "database_url is not valid: \(reason). It looks like postgresql://USER@HOST:5432/DATABASE."
            )
        case .unreachable(let target, let reason):
            return CommandFailure(
                .unavailable,
                "PostgreSQL cannot be reached at \(target): \(reason). Check that it runs, and the host and port."
            )
        case .accessDenied(let target, let reason):
            return CommandFailure(
                .noPermission,
                "PostgreSQL refuses this user at \(target): \(reason). Check user and password, which may be in the "
                    + "URL or in ~/.pgpass, and pg_hba.conf of the server."
            )
        case .tlsMissing(let target):
            return CommandFailure(
                .unavailable,
                "PostgreSQL at \(target) has no TLS, so anybody in between could read and change everything. Turn it on "
                    + "there (ssl = on, ssl_cert_file), or add sslmode=disable to the URL for a network that is yours alone."
            )
        case .tlsUntrusted(let target, let reason):
            return CommandFailure(
                .unavailable,
                "PostgreSQL at \(target) does not prove that it is the right one: \(reason). Name its authority's "
                    + "certificate with sslrootcert=FILE in the URL, and the host as its certificate does."
            )
        case .databaseMissing(let target):
            return CommandFailure(
                .noStore,
                "there is no database \(target). Make one: createdb --encoding UTF8 --template template0 NAME"
            )
        case .serverTooOld(let found, let needed):
            return CommandFailure(
                .unavailable,
                "PostgreSQL \(found) is too old: version \(needed) or later is needed. Upgrade the server."
            )
        case .wrongEncoding(let found):
            return CommandFailure(
                .data,
                "the database has the encoding \(found), and UTF8 is needed. Make another one: "
                    + "createdb --encoding UTF8 --template template0 NAME"
            )
        case .poolsTransactions, .moveIsUnfinished, .isReadOnly, .notPermitted, .isMissing, .formatTooNew,
            .formatUnreleased, .notAdmitted, .standbyMissing, .failed:
            return self.stateFailure(error)
        }
    }

    /// The error for the state of a database, or for a right that it does not give.
    private static func stateFailure(_ error: PostgreSQLEngineError) -> CommandFailure {
        switch error {
        case .poolsTransactions(let target):
            return CommandFailure(
                .unavailable,
                "a pooler in transaction mode stands before \(target), and mixes up sessions. Set pool_mode = session for this "
                    + "database, or name PostgreSQL itself."
            )
        case .isReadOnly(let target):
            return CommandFailure(
                .unavailable,
                "\(target) is read only: it is a standby, or default_transaction_read_only is on. Name the primary."
            )
        case .notPermitted(let target, let reason):
            return CommandFailure(
                .noPermission,
                "this user may not make tables in \(target): \(reason). Make them the owner of the database."
            )
        case .isMissing(let target):
            return CommandFailure(
                .noStore,
                "there is no store in \(target). Start a server, which makes one: "
                    + "tidemark serve --engine postgres --database-url URL"
            )
        case .moveIsUnfinished(let target):
            return CommandFailure(
                .data,
                "a move into \(target) is not complete. Continue it with tidemark migrate, or remove what it has left: "
                    + "psql -c 'DROP SCHEMA tidemark CASCADE'"
            )
        case .formatTooNew(let found, let known):
            return CommandFailure(
                .unavailable,
                "the store in PostgreSQL has format \(found), and this version knows \(known). Use the version that "
                    + "wrote it, or a newer one."
            )
        case .formatUnreleased: return EngineOpening.formatUnreleased("the store in PostgreSQL")
        case .standbyMissing(let target, let isConfigured):
            let lack =
                isConfigured
                ? "none of the standbys in synchronous_standby_names is connected to \(target)"
                : "\(target) waits for no synchronous standby, so a failover would lose acknowledged saves"
            return CommandFailure(
                .unavailable,
                "\(lack). Set synchronous_standby_names and synchronous_commit there and start a standby, or for a "
                    + "single PostgreSQL server use --database-sync off."
            )
        case .notAdmitted:
            return CommandFailure(.unavailable, "the other servers of this store do not admit this one.")
        case .failed(let state, let reason):
            let advice = PostgreSQLLog.advice(for: SQLState(rawValue: state)).map { ". \($0)" } ?? ""
            return CommandFailure(.unavailable, "PostgreSQL failed (\(state)): \(reason)\(advice)")
        case .badURL, .unreachable, .accessDenied, .tlsMissing, .tlsUntrusted, .databaseMissing,
            .serverTooOld, .wrongEncoding:
            return self.failure(error)
        }
    }
}

extension SharedAssets.Server {
    fileprivate init(_ node: NodeRegistration) {
        self.init(number: node.number, name: node.name, run: node.boot)
    }

    fileprivate init(_ other: OtherNode) {
        self.init(other.node)
        self.millisecondsLeft = other.millisecondsLeft
        self.mayRun = other.mayRun
    }
}
