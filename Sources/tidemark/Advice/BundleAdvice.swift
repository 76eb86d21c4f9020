import Administration
import FileIO
import RecordJSON
import RecordModel
import StorageContract

/// Error texts for bundles of zones.
enum BundleAdvice {
    static func failure(_ failure: BundleFailure) -> CommandFailure {
        switch failure {
        case .outputExists, .outputNotMade, .outputNotWritten, .outputNotNamed, .refused, .fileChanged,
            .folderNotOpened, .isBusy:
            return self.fileFailure(failure)
        case .zonesMissing(let zones):
            return CommandFailure(
                .data,
                "the database has no zone of this name: \(zones.joined(separator: ", ")). Names are case-sensitive."
            )
        case .zonesUnreadable(let error):
            return RecordAdvice.failure(error, doing: "the zones cannot be read")
        case .nothingToRead:
            return CommandFailure(.unavailable, "the store gave nothing to read. Try again.")
        case .assetNotFound(let error):
            return RecordAdvice.failure(error, doing: "an asset cannot be found")
        case .fieldTypeDiffers(let field):
            return CommandFailure(
                .data,
                "the field \(field) has another type here than in the bundle. "
                    + "A field keeps its type: import into another container. Nothing was imported."
            )
        case .productionLacks(let added):
            return CommandFailure(
                .data,
                "production lacks \(added.prefix(10).joined(separator: ", "))"
                    + (added.count > 10 ? " and \(added.count - 10) others" : "")
                    + ". Deploy a schema that has them: tidemark schema deploy --help. Nothing was imported."
            )
        case .zoneIsForeign(let zone):
            return CommandFailure(
                .data,
                "the zone '\(zone.zoneName)' has records that are not from this bundle or have changed, and a bundle needs "
                    + "an empty zone. Delete them, choose another name with --to, or other zones with --zone. "
                    + "Nothing was imported."
            )
        case .zone(let zone, let error):
            return RecordAdvice.failure(error, doing: "the zone '\(zone.zoneName)' cannot be made")
        case .records(let record, let error):
            let what = record.map { "the record '\($0)' is refused" } ?? "the records are refused"
            return RecordAdvice.failure(error, doing: what)
        case .participants(let error):
            return RecordAdvice.failure(error, doing: "the participants cannot be told")
        }
    }

    /// Texts for errors of files and folders.
    private static func fileFailure(_ failure: BundleFailure) -> CommandFailure {
        switch failure {
        case .outputExists(let path):
            CommandFailure(.cannotCreate, "the file \(path) exists. Name a new one, or remove it.")
        case .outputNotMade(let path):
            CommandFailure(
                .cannotCreate,
                "the file \(path) cannot be made. Check the folder and its permissions."
            )
        case .outputNotWritten(let error):
            CommandFailure(.cannotCreate, "the output cannot be written: \(error.reason).")
        case .outputNotNamed(let path): CommandFailure(.cannotCreate, "the file \(path) cannot be made.")
        case .refused(let file, let error):
            CommandFailure(
                .data,
                "\(file) is refused, and nothing was imported: \(PrintedText.line("\(error)"))."
            )
        case .fileChanged(let file):
            CommandFailure(
                .data,
                "\(file) has changed since it was verified. Import a file that nobody writes."
            )
        case .folderNotOpened(let path):
            CommandFailure(.cannotCreate, "\(path) cannot be opened. Check who owns it.")
        case .isBusy(let folder):
            CommandFailure(
                .unavailable,
                "another import into \(folder) has not finished. Wait for it, and run this one again."
            )
        default: CommandFailure(.data, "\(failure)")
        }
    }

    /// The failure for an import that had begun to write.
    static func failure(_ stop: BundleImportStop) -> CommandFailure {
        var failure: CommandFailure
        if let refused = stop.cause as? StoreError {
            failure = RecordAdvice.failure(refused, doing: "the bundle is refused")
        } else {
            failure = CommandFailure(of: stop.cause) ?? CommandFailure(.unavailable, "\(stop.cause)")
        }
        failure.message +=
            stop.areZonesGone
            ? " The zones of the bundle were deleted again."
            : " Zones that were there before may have a part of the bundle: run the import again, and it continues."
        return failure
    }
}
