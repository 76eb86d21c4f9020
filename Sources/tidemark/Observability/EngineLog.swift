import Administration
import Foundation
import Logging
import RecordServer
import StorageContract

/// The reports of an engine, as lines of the log.
struct EngineLog: Sendable {
    /// The messages and values in which engines differ.
    struct Texts: Sendable {
        /// At the begin of an outage, and at its end.
        var unavailable: String
        var available: String
        /// The same of a full disk.
        var full: String
        var room: String
        var adviceWhenFull: String
        /// Why the server exits when commits may be lost.
        var lost: String
    }

    private static let writesFail = "the disk refuses to write: no change is executed"

    let faults: FaultLog
    let texts: Texts
    /// Names the storage in each line.
    let metadata: Logger.Metadata
    /// Describes an error of the storage.
    let describe: @Sendable (_ code: Int32) -> Logger.Metadata

    private func metadata(_ code: Int32) -> Logger.Metadata {
        self.metadata.merging(self.describe(code)) { $1 }
    }

    /// Tells that the storage executes nothing, and of what that refuses.
    func tellUnavailable(code: Int32, refusing requests: Int) {
        self.faults.goesOn(self.texts.unavailable, refusing: requests, metadata: self.metadata(code))
    }

    func tell(_ event: EngineEvent) {
        switch event {
        case .storageUnavailable(let code): self.tellUnavailable(code: code, refusing: 1)
        case .storageAvailable:
            self.faults.ended(self.texts.unavailable, saying: self.texts.available, metadata: self.metadata)
        case .requestFaulted(let code):
            self.faults.tell(
                "a request could not be executed",
                about: "\(code)",
                metadata: self.metadata(code)
            )
        case .housekeepingFailed(let code):
            self.faults.tell(
                "housekeeping failed, and will be retried",
                about: "\(code)",
                level: .warning,
                metadata: self.metadata(code)
            )
        case .diskFull, .diskHasRoom, .changesRefused, .writesFail, .writesWork, .reserveFailed:
            self.tellRoom(event)
        case .logLost(let error):
            self.faults.logger.critical(
                "\(self.texts.lost)",
                metadata: self.metadata.merging([LogKeys.errno: .stringConvertible(error)]) { $1 }
            )
            // Exits at once, as after a kill: nothing of what waits may be executed, and closing files
            // would write to them.
            _exit(CommandFailure.Code.unavailable.rawValue)
        case .pageDamaged(let path, let page):
            self.faults.tell(
                "a page of the database is damaged: what needs it fails",
                about: "\(page)",
                metadata: [
                    LogKeys.path: "\(path)", LogKeys.page: .stringConvertible(page),
                    LogKeys.advice:
                        "Restore a backup into another folder, and check the disk and the memory.",
                ]
            )
        case .logTorn:
            self.faults.logger.warning(
                "the log of the database ends before its last commits",
                metadata: self.metadata.merging([
                    LogKeys.advice:
                        "If the machine lost power, they were not acknowledged. Otherwise check the disk."
                ]) { $1 }
            )
        case .indexesIncomplete(let indexes):
            self.faults.logger.info(
                "building indexes in the background",
                metadata: [LogKeys.indexes: .stringConvertible(indexes)]
            )
        case .recordNotIndexed(let record): self.faults.tellNotIndexed(record)
        case .indexesBuilt(let indexes, let records):
            self.faults.logger.info(
                "indexes are complete",
                metadata: [
                    LogKeys.indexes: .stringConvertible(indexes),
                    LogKeys.records: .stringConvertible(records),
                ]
            )
        }
    }

    /// Tells what the disk does with writes, and changes of the reserve for a full one.
    private func tellRoom(_ event: EngineEvent) {
        switch event {
        case .diskFull:
            var metadata = self.metadata
            metadata[LogKeys.advice] = "\(self.texts.adviceWhenFull)"
            self.faults.goesOn(self.texts.full, refusing: 0, metadata: metadata)
        case .diskHasRoom:
            self.faults.ended(self.texts.full, saying: self.texts.room, metadata: self.metadata)
        case .writesFail(let code):
            var metadata = self.metadata(code)
            // Only SQLite's 13 is want of room, where there can be no reserve.
            metadata[LogKeys.advice] =
                code == 13
                ? "Make room on the disk."
                : "The disk is not full, it fails: look into the kernel's log, and make a backup."
            self.faults.goesOn(Self.writesFail, refusing: 0, metadata: metadata)
        case .writesWork:
            self.faults.ended(
                Self.writesFail,
                saying: "the disk takes writes again",
                metadata: self.metadata
            )
        case .changesRefused(let changes):
            for text in [self.texts.full, Self.writesFail] { self.faults.refused(changes, by: text) }
        case .reserveFailed(let path, let error):
            self.faults.logger.warning(
                "cannot reserve room for deletes on a full disk",
                metadata: [LogKeys.path: "\(path)", LogKeys.errno: .stringConvertible(error)]
            )
        default: break
        }
    }
}

extension EngineLog {
    /// The log of an engine with a store in a file.
    init(_ faults: FaultLog, of folder: DataFolder) {
        self.init(
            faults: faults,
            texts: Texts(
                unavailable: "the files of the store could not be used",
                available: "the files of the store can be used again",
                full: "the disk is full: only deletes and administration are executed",
                room: "the disk has room again",
                adviceWhenFull: "Make room on the disk, or delete records, files and users.",
                lost: "a write to the disk was lost: the server exits, and has to be started again"
            ),
            metadata: [LogKeys.path: "\(folder.path)"],
            describe: { [LogKeys.sqlite: .stringConvertible($0)] }
        )
    }
}
