import Administration
import RecordJSON
import RecordModel
import StorageContract

/// Error texts of commands about records.
enum RecordAdvice {
    /// The failure for an error of a whole request.
    static func failure(_ error: StoreError, doing what: String) -> CommandFailure {
        CommandFailure(self.code(error), "\(what): \(self.text(error))")
    }

    /// The failure for a file of records; `written` says what is on disk.
    static func failure(_ fault: RecordFileFault, of file: String, written: String) -> CommandFailure {
        switch fault {
        case .text(let error): CommandFailure(.data, "\(file): \(error). \(written)")
        case .input(let error): self.failure(error, then: " " + written)
        case .unreadable(let reason):
            CommandFailure(.data, "\(file) cannot be read: \(reason). \(written)")
        case .hasNoRecord(let bytes):
            CommandFailure(
                .data,
                "\(file): there is no record in the \(bytes) bytes of the input. \(written) Name a file that tidemark "
                    + "records export has written, or one with an object for each record."
            )
        }
    }

    /// The failure for a text of records that was not saved to its end.
    static func failure(_ stop: SaveStop) -> CommandFailure {
        let written =
            stop.saved == 0 ? "Nothing was saved." : "\(stop.saved) records before it were saved."
        switch stop.cause {
        case .file(let fault): return self.failure(fault, of: stop.file, written: written)
        case .isDeletion(let position):
            return CommandFailure(
                .data,
                "\(stop.file): \(position): the text says that the record was deleted. Remove it, or delete the record: "
                    + "tidemark records delete. \(written)"
            )
        case .twice(let record, let position):
            return CommandFailure(
                .data,
                "\(stop.file): \(position): the record '\(PrintedText.line(record))' comes twice. \(written)"
            )
        case .store(let error):
            var failure = self.failure(error, doing: "the records cannot be saved")
            failure.message += " \(written)"
            return failure
        }
    }

    /// The error, and then what to do, with a full stop.
    static func text(_ error: StoreError) -> String {
        let text = error.row.text
        let sentence = text.hasSuffix(".") ? text : text + "."
        return self.advice(error).map { sentence + " " + $0 } ?? sentence
    }

    private static func code(_ error: StoreError) -> CommandFailure.Code {
        switch error {
        case .permissionDenied, .notSignedIn: .noPermission
        case .overloaded, .storageUnavailable, .diskFull, .shuttingDown, .indexBuilding, .internalFault:
            .unavailable
        default: .data
        }
    }

    private static func advice(_ error: StoreError) -> String? {
        switch error {
        case .recordExists(let record):
            "It has the change tag \(record.changeTag). To change it, name the tag, or say --policy changed-keys."
        case .changeTagStale(let record):
            "Its change tag is \(record.changeTag). Get it, merge, and save again, or say --policy changed-keys."
        case .recordMissing: "To make it, leave the change tag out."
        case .zoneMissing: "Name one that exists, or let an import make it: --create-zones."
        case .changeTokenExpired: "Begin anew, without --since."
        case .notSignedIn: "Name a user with --as."
        case .permissionDenied: "The schema says who may: tidemark access --help"
        case .fieldNotQueryable:
            "Without an index there is the way over all records: tidemark records export --help"
        case .fieldNotSortable(let field):
            "Index it in the schema: \"\(field)\" TIMESTAMP QUERYABLE SORTABLE, or the type that it has. "
                + "What changed last: tidemark records changes --help, tidemark zone log --help"
        case .recordDamaged:
            "To list such records: tidemark records damaged --help. To remove one: tidemark records delete --help"
        case .atomicPeer: "Nothing of its batch was written."
        default: nil
        }
    }
}
