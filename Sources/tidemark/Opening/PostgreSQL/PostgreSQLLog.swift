import Foundation
import Logging
import PostgreSQLEngine
import RecordServer
import StorageContract

/// The reports of PostgreSQL's engine, and its notices of the cluster, as lines of the log.
struct PostgreSQLLog: Sendable {
    private let target: ConnectionTarget
    private let engine: EngineLog
    private var logger: Logger { self.engine.faults.logger }

    init(_ target: ConnectionTarget, _ faults: FaultLog) {
        self.target = target
        self.engine = EngineLog(
            faults: faults,
            texts: EngineLog.Texts(
                unavailable: "PostgreSQL executes nothing now",
                available: "PostgreSQL executes requests again",
                full: "the disk of PostgreSQL is full: no change is executed",
                room: "the disk of PostgreSQL has room again",
                adviceWhenFull: "Make room on the disk of PostgreSQL.",
                lost: "another server has this machine's name and folder: the server exits"
            ),
            metadata: [LogKeys.database: "\(target.text)"],
            describe: { code in
                let state = SQLState(number: code)
                var metadata: Logger.Metadata = [LogKeys.sqlState: "\(state?.rawValue ?? "none")"]
                if let advice = state.flatMap(Self.advice) { metadata[LogKeys.advice] = "\(advice)" }
                return metadata
            }
        )
    }

    func tell(_ event: EngineEvent) { self.engine.tell(event) }

    /// Logs that a server which sent a heartbeat a short time ago may have another folder of assets.
    func tellWaiting(for node: String) {
        self.logger.notice(
            "waiting until another server says that it runs, or counts as gone",
            metadata: [LogKeys.reason: "nothing locks the file of \(node) in the folder of assets"]
        )
    }

    /// Advice for a state in which PostgreSQL executes nothing; `nil` for one that passes.
    static func advice(for state: SQLState) -> String? {
        switch state {
        case .diskFull: "Make room on the disk of PostgreSQL."
        case .readOnly: "Name the primary in the URL, or turn default_transaction_read_only off."
        case .unknownStatement, .duplicateStatement:
            "Set pool_mode = session for this database, or name PostgreSQL itself."
        case .invalidPassword, .invalidAuthorization:
            "Check user and password in the URL or in ~/.pgpass, and pg_hba.conf of the server."
        case .unknownDatabase: "Make the database again from a copy, or name where it is."
        case .notAdmitted: "Give this server the folder of assets that the others have, and start it again."
        case .tooManyConnections: "Raise max_connections of PostgreSQL, or lower read_threads."
        case .tlsMissing, .tlsUntrusted: "Check TLS of PostgreSQL, and sslmode and sslrootcert in the URL."
        default: nil
        }
    }

    func tell(_ notice: ClusterNotice) {
        var metadata: Logger.Metadata = [LogKeys.database: "\(self.target.text)"]
        switch notice {
        case .otherProcess:
            self.logger.notice("another PostgreSQL server process answers", metadata: metadata)
        case .newEpoch(let reason):
            metadata[LogKeys.reason] = "\(reason)"
            self.logger.warning(
                "the store's history may have gone back: clients fetch everything anew",
                metadata: metadata
            )
        case .standby(.confirming):
            self.logger.notice("a synchronous standby confirms commits again", metadata: metadata)
        case .standby(let state):
            metadata[LogKeys.advice] =
                state == .notConfigured
                ? "Set synchronous_standby_names and synchronous_commit, or use --database-sync off."
                : "Start the standby, or use --database-sync off."
            self.logger.error(
                "saves are refused: no synchronous standby confirms commits",
                metadata: metadata
            )
        case .registeredAgain:
            self.logger.warning(
                "the server was silent for too long, and registered again",
                metadata: metadata
            )
        case .keepsHouse: self.logger.info("this server keeps house", metadata: metadata)
        case .answersNothing(let code):
            self.engine.tellUnavailable(code: code, refusing: 0)
        case .unsafeSettings(let names):
            for lack in LackingProtection.all(named: names) {
                metadata[LogKeys.settings] = "\(lack.names.joined(separator: ", "))"
                metadata[LogKeys.advice] = "\(lack.advice)"
                self.logger.warning("\(lack.consequence): settings are off", metadata: metadata)
            }
        case .otherFormat(let found):
            metadata["format"] = "\(found)"
            metadata[LogKeys.advice] = "Start the version of tidemark that the other servers have."
            self.logger.critical(
                "another version has changed the tables: the server exits",
                metadata: metadata
            )
            // Exits at once, as after a kill: a reply to a read may already be wrong.
            _exit(CommandFailure.Code.unavailable.rawValue)
        }
    }
}
