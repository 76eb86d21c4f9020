import Foundation
import Logging
import PostgreSQLEngine
import RecordServer
import RecordStore

/// What PostgreSQL's engine reports, as lines of the log.
///
/// Lines whose rate follows the requests are paced: an outage has one at its begin and one at its end.
struct PostgreSQLLog: Sendable {
    private let target: ConnectionTarget
    private let logger: Logger
    private let paces = EnginePaces()

    init(_ target: ConnectionTarget, _ logger: Logger) {
        self.target = target
        self.logger = logger
    }

    /// Says that a server which was heard of a short time ago may have another folder of assets.
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

    private func metadata(_ code: Int32) -> Logger.Metadata {
        let state = SQLState(number: code)
        var metadata: Logger.Metadata = [
            LogKeys.database: "\(self.target.text)", LogKeys.sqlState: "\(state?.rawValue ?? "none")",
        ]
        if let advice = state.flatMap(Self.advice) { metadata[LogKeys.advice] = "\(advice)" }
        return metadata
    }

    private func tell(_ line: Outage.Line?, code: Int32) {
        guard let line else { return }
        self.logger.error(
            "PostgreSQL executes nothing now",
            metadata: self.metadata(code).merging(line.metadata) { $1 }
        )
    }

    func tell(_ event: EngineEvent) {
        switch event {
        case .storageUnavailable(let code):
            self.tell(self.paces.outageGoesOn(refusing: 1), code: code)
        case .requestFaulted(let code):
            guard let unwritten = self.paces.fault() else { return }
            var metadata = self.metadata(code)
            metadata["unwritten"] = .stringConvertible(unwritten)
            self.logger.error("a request could not be executed", metadata: metadata)
        case .housekeepingFailed(let code):
            guard let unwritten = self.paces.housekeeping() else { return }
            var metadata = self.metadata(code)
            metadata["unwritten"] = .stringConvertible(unwritten)
            self.logger.warning("housekeeping failed, and will be retried", metadata: metadata)
        case .diskFull:
            self.logger.error(
                "the disk of PostgreSQL is full: no change is executed",
                metadata: self.metadata(SQLState.diskFull.number)
            )
        case .diskHasRoom:
            self.logger.notice(
                "the disk of PostgreSQL has room again",
                metadata: [LogKeys.database: "\(self.target.text)"]
            )
        case .logLost:
            self.logger.critical(
                "another server has this machine's name and folder: the server exits",
                metadata: [LogKeys.database: "\(self.target.text)"]
            )
            // Exits at once, as after a kill: nothing of what waits may be executed.
            _exit(CommandFailure.Code.unavailable.rawValue)
        case .indexesIncomplete(let indexes):
            self.logger.info(
                "building indexes in the background",
                metadata: [LogKeys.indexes: .stringConvertible(indexes)]
            )
        case .recordNotIndexed(let record): self.logger.tellNotIndexed(record)
        case .indexesBuilt(let indexes, let records):
            self.logger.info(
                "indexes are complete",
                metadata: [
                    LogKeys.indexes: .stringConvertible(indexes),
                    LogKeys.records: .stringConvertible(records),
                ]
            )
        // PostgreSQL has no reserve, and its entries have one format.
        case .reserveFailed, .writesFail, .writesWork: break
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
            self.tell(self.paces.outageGoesOn(refusing: 0), code: code)
        case .answersAgain:
            guard let line = self.paces.outageEnded() else { return }
            metadata.merge(line.metadata) { $1 }
            self.logger.notice("PostgreSQL executes requests again", metadata: metadata)
        case .unsafeSettings(let names):
            metadata[LogKeys.settings] = "\(names.joined(separator: ", "))"
            metadata[LogKeys.advice] = "Turn them on in postgresql.conf, and reload."
            self.logger.warning(
                "a crash of PostgreSQL's machine would lose saves: settings are off",
                metadata: metadata
            )
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

extension Outage.Line {
    fileprivate var metadata: Logger.Metadata {
        [
            "seconds": .stringConvertible(Double(self.milliseconds / 100) / 10),
            "refused": .stringConvertible(self.refused),
        ]
    }
}
