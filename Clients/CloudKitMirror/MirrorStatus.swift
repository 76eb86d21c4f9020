public import CloudKit
internal import GRDB

/// The state of a mirror at one moment.
public struct MirrorStatus: Sendable {
    /// How many records have a local change that the server does not have, without parked ones.
    public var pending: Int
    /// How many records have a local change that the server has refused.
    public var parked: Int
    /// How many overruled values are in `tidemark_conflict`.
    public var conflicts: Int
    /// Whether every zone was fetched to its end at least once.
    public var isComplete: Bool
    /// Why the mirror has stopped; `nil` if it works.
    public var stopped: MirrorError?
}

/// Something that a mirror has done.
public enum MirrorEvent: Sendable {
    /// A page of a zone's changes is in the file.
    case imported(zone: String, saved: Int, deleted: Int)
    /// The server has changes that were made here.
    case exported(saved: Int, deleted: Int)
    /// A zone was fetched to its end.
    case completed(zone: String)
    /// Values were overruled; `tidemark_conflict` has them.
    case overruled(recordID: CKRecord.ID, columns: [String])
    /// The server has refused a change, which is parked.
    case parked(recordID: CKRecord.ID, error: CKError)
    /// The file can't be written for now, for the reason in the text.
    case waiting(String)
    /// The mirror has stopped.
    case stopped(MirrorError)
}

/// How a conflict is decided: one column that was changed on both sides.
///
/// Columns that were changed on one side are always merged.
public enum MirrorConflictPolicy: String, Hashable, Codable, Sendable, CaseIterable {
    /// The newer change of a column wins, and a deletion wins over a change.
    case fieldwise
    /// The server's side wins.
    case server
    /// The local side wins.
    case client
}

extension MirrorStatus {
    /// Reads the state of a file that this or another process keeps in step, or that none does.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: `MirrorError`: `notAMirror`, `newerVersion`, `unusable`.
    public init(ofFileAt path: String) throws(MirrorError) {
        guard try FileHeader.check(path, mustBeWritable: false) else {
            throw .unusable(path: path, detail: "there is no file")
        }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        do {
            self = try DatabaseQueue(path: path, configuration: configuration)
                .read { try MirrorStatus($0, stopped: nil) }
        } catch {
            throw .unusable(path: path, detail: "\(error)")
        }
    }

    init(_ database: Database, stopped: MirrorError?) throws {
        func count(_ sql: String) throws -> Int { try Int.fetchOne(database, sql: sql) ?? 0 }
        self.init(
            pending: try count("SELECT count(*) FROM tidemark_pending WHERE error_code IS NULL"),
            parked: try count("SELECT count(*) FROM tidemark_pending WHERE error_code IS NOT NULL"),
            conflicts: try count("SELECT count(*) FROM tidemark_conflict"),
            isComplete: try count("SELECT count(*) FROM tidemark_zone WHERE is_complete = 0") == 0,
            stopped: stopped
        )
    }
}
