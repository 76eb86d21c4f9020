import Administration
import AssetStorage
import FileIO
import RecordJSON
import RecordModel
import RecordStore

extension RecordAdvice {
    /// The failure for an import that ended early.
    static func failure(_ stop: ImportStop) -> CommandFailure {
        let file = stop.file
        let written = stop.result.written
        switch stop.cause {
        case .file(let fault):
            return self.failure(
                fault,
                of: file,
                written: stop.isChecking ? "Nothing was written." : "The import stops, \(written)."
            )
        case .twice(let record, let line, let earlierLine):
            return CommandFailure(
                .data,
                "\(file): line \(line): the record '\(PrintedText.line(record))' is also in line \(earlierLine). "
                    + "Remove one of the two. Nothing was written."
            )
        case .fileChanged:
            return CommandFailure(
                .data,
                "\(file) has changed since it was checked: the import stops, \(written). Import a file that nobody writes."
            )
        case .zonesMissing(let zones):
            return CommandFailure(
                .data,
                "there is no zone '\(zones.first?.zoneName ?? "")'"
                    + (zones.count > 1 ? " and \(zones.count - 1) others of the file" : "")
                    + ". Create it in a private database with --create-zones, or name another for all records with --zone. "
                    + "Nothing was written."
            )
        case .zone(let zone, let error):
            return self.failure(error, doing: "the zone '\(zone.zoneName)' cannot be created")
        case .store(let error): return self.failure(error, doing: "the import stops, \(written)")
        }
    }

    /// The failure for a file that cannot be read, or not twice; `end` follows the sentences.
    static func failure(_ error: InputFileError, then end: String = "") -> CommandFailure {
        let name = error.file
        switch error.cause {
        case .cannotOpen(let reason):
            return CommandFailure(
                .data,
                "\(name) cannot be read: \(reason.reason). Name a file that exists.\(end)"
            )
        case .cannotRead(let reason):
            return CommandFailure(.data, "\(name) cannot be read: \(reason.reason).\(end)")
        case .cannotCopy(let folder, let reason):
            return CommandFailure(
                .cannotCreate,
                "\(name) can be read once, and its copy cannot be made in \(folder): \(reason.reason). Name a file.\(end)"
            )
        case .hasNoRoom(let room, let reason):
            return CommandFailure(
                .cannotCreate,
                "\(name) can be read once, and \(room.folder) has no room for a copy: after \(room.copiedBytes) bytes no "
                    + "more than disk_reserve_bytes (\(room.reserveBytes)) are free (\(reason.reason)). Make room, or name a "
                    + "file.\(end)"
            )
        }
    }

    /// The failure for files of assets beside a file of records.
    static func failure(_ error: AssetFolderError) -> CommandFailure {
        switch error {
        case .isDamaged(let path):
            CommandFailure(
                .data,
                "the asset in \(path) is missing or damaged. List all: tidemark assets verify"
            )
        case .cannotWrite(let path):
            CommandFailure(.cannotCreate, "\(path) cannot be written. Check for room and permissions.")
        case .cannotMake(let path): CommandFailure(.cannotCreate, "\(path) cannot be made.")
        case .cannotMakeFolder(let path, let reason):
            CommandFailure(.cannotCreate, "the folder \(path) cannot be made: \(reason).")
        case .cannotStore(let path, let error):
            CommandFailure(.unavailable, "an asset cannot be written to \(path): \(error).")
        }
    }
}
