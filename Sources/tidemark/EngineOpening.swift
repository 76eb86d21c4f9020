import Foundation
import Logging
import RecordServer
import SQLiteEngine

/// The only place that names an engine, but for copies of its file (`Backup/`).
enum EngineOpening {
    /// Opens the engine of a data folder.
    ///
    /// - Throws: `unavailable`, `cannotCreate`.
    static func open(
        _ folder: DataFolder,
        settings: Settings = .defaults,
        logger: Logger? = nil
    ) throws(CommandFailure) -> SQLiteEngine {
        var configuration = SQLiteEngineConfiguration(directory: folder.path)
        configuration.bounds = settings.server.bounds
        configuration.requestIDRetentionSeconds = Int(settings.server.requestIDRetentionSeconds)
        configuration.tombstoneRetentionSeconds = settings.tombstoneRetentionSeconds
        configuration.assetGraceSeconds = settings.assetGraceSeconds
        configuration.quotas = settings.quotas
        configuration.waitingRequestsMax = settings.writer.requestsMax
        configuration.waitingBytesMax = settings.writer.bytesMax
        configuration.writerWaitNanoseconds = Int64(settings.writer.waitMilliseconds) * 1_000_000
        configuration.readThreads = settings.writer.readThreads
        configuration.readerWaitNanoseconds = Int64(settings.writer.readerWaitMilliseconds) * 1_000_000
        do {
            return try SQLiteEngine(configuration: configuration, clock: SystemTime.milliseconds) { event in
                guard let logger else { return }
                Self.log(event, of: folder, to: logger)
            }
        } catch let error as SQLiteEngineError {
            switch error {
            case .formatTooNew(let found, let known):
                throw CommandFailure(
                    .unavailable,
                    "the data in \(folder.path) has format \(found), and this version knows \(known) and older. "
                        + "Use the version that wrote it, or a newer one."
                )
            case .isBackup: throw DataFolder.isBackup(folder.path)
            case .cannotOpen(let path, let reason):
                throw CommandFailure(.cannotCreate, "\(path) cannot be opened: \(reason).")
            }
        } catch {
            throw CommandFailure(.unavailable, "the data in \(folder.path) cannot be opened: \(error).")
        }
    }

    private static func log(_ event: EngineEvent, of folder: DataFolder, to logger: Logger) {
        switch event {
        case .storageUnavailable(let code):
            logger.error(
                "the disk is full or refuses to write",
                metadata: [LogKeys.path: "\(folder.path)", LogKeys.sqlite: .stringConvertible(code)]
            )
        case .logLost(let error):
            logger.critical(
                "the disk did not keep what was written: the server ends, and is to be started again",
                metadata: [LogKeys.path: "\(folder.path)", LogKeys.errno: .stringConvertible(error)]
            )
            // At once, as if it had been killed: to close the files would write to them.
            _exit(CommandFailure.Code.unavailable.rawValue)
        case .requestFaulted(let code):
            logger.error(
                "a request could not be executed",
                metadata: [LogKeys.sqlite: .stringConvertible(code)]
            )
        case .housekeepingFailed(let code):
            logger.warning(
                "housekeeping failed and is tried again",
                metadata: [LogKeys.sqlite: .stringConvertible(code)]
            )
        case .indexesIncomplete(let indexes):
            logger.info(
                "indexes are filled in the background",
                metadata: [LogKeys.indexes: .stringConvertible(indexes)]
            )
        case .indexesBuilt(let indexes, let records):
            logger.info(
                "indexes are complete",
                metadata: [
                    LogKeys.indexes: .stringConvertible(indexes),
                    LogKeys.records: .stringConvertible(records),
                ]
            )
        }
    }
}
