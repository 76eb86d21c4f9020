/// The acknowledged commits that a store lacks: the finding of a start.
///
/// An engine that keeps a log notes beside it how far the log was synced. The note is a lower bound:
/// a loss of power may leave an earlier one.
package struct LogLoss: Hashable, Sendable {
    package enum Finding: Hashable, Sendable {
        /// The log is missing, empty, or has no valid header.
        case logMissing
        /// The log ends before the note does, because it was cut or has a wrong byte.
        case logCut
        /// The log is another one, or an earlier state of it.
        case logForeign
        /// There is no note, and the log has commits behind a damaged frame.
        case logDamaged
        /// The database is an earlier state of itself.
        case databaseOlder
    }

    package var finding: Finding
    /// The path of the database file.
    package var path: String
    /// Frames of the log that were synced, and those of them that are readable.
    package var framesSynced: Int64
    package var framesFound: Int64
    /// When the last noted commit was made; 0 if that is unknown.
    package var milliseconds: Int64
    /// Whether the database file has everything that the log lacks, so that nothing is lost.
    package var isInFile: Bool

    package init(
        _ finding: Finding,
        path: String,
        framesSynced: Int64 = 0,
        framesFound: Int64 = 0,
        milliseconds: Int64 = 0,
        isInFile: Bool = false
    ) {
        self.finding = finding
        self.path = path
        self.framesSynced = framesSynced
        self.framesFound = framesFound
        self.milliseconds = milliseconds
        self.isInFile = isInFile
    }
}
