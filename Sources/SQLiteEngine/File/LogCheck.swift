import Foundation
import StorageContract

/// Compares the log of a store with the note of what was synced, before SQLite recovers the log.
///
/// SQLite's recovery takes the log up to the first frame that is not valid, and begins to write
/// there. So it loses every commit behind a wrong byte, without a word.
///
/// ```text
/// the log                      in order if
/// has the salts of the note    its valid commits reach the note
/// has later salts              always: SQLite restarts a log when all of it is in the file
/// is missing, or another one   the note is empty, or a checkpoint had put all of it into the file
/// ```
///
/// Another process may be writing: a finding counts if nothing changed while it was made.
struct LogCheck {
    /// The loss; `nil` if the log lacks nothing.
    var loss: LogLoss?
    /// Whether commits stand behind the end of the log.
    ///
    /// Without a loss these were not synced, as after a loss of power, or the note of them is lost.
    var hasCommitsBehind = false

    private static let triesMax = 5
    /// The most restarts, which salts count, that a note can miss: those of a few seconds.
    private static let restartsMax: UInt32 = 65_536

    /// The evidence of a finding.
    private struct Basis: Equatable {
        var synced: SyncedEnd?
        var copied: CopiedEnd?
        var header: LogFile.Header?
    }

    /// - Throws: `failed` if a file cannot be read.
    init(of path: String) throws(StoreCopyError) {
        for _ in 0..<Self.triesMax {
            let basis = try Self.basis(of: path)
            try self.compare(basis, path)
            guard self.loss != nil, try Self.basis(of: path) != basis else { return }
            self = LogCheck()
        }
    }

    private init() {}

    private static func basis(of path: String) throws(StoreCopyError) -> Basis {
        let records = SyncedNote.records(of: path)
        return Basis(
            synced: records.synced,
            copied: records.copied,
            header: try LogFile(of: path)?.header()
        )
    }

    private mutating func compare(_ basis: Basis, _ path: String) throws(StoreCopyError) {
        var end: LogTail?
        if let header = basis.header { end = try LogFile(of: path)?.end(header) }
        self.hasCommitsBehind = end?.hasCommitsBehind ?? false
        guard let synced = basis.synced else {
            // A store that was never served has no note, and neither has a copy.
            if self.hasCommitsBehind { self.loss = LogLoss(.logDamaged, path: path) }
            return
        }
        let note = synced.position
        let copied = basis.copied.map { $0.salts == note.salts ? $0.frames : 0 } ?? 0
        var loss = LogLoss(
            .logMissing,
            path: path,
            framesSynced: note.frames,
            milliseconds: synced.milliseconds,
            isInFile: copied >= note.frames
        )
        guard note.frames > 0, let salts = note.salts else { return }
        guard let header = basis.header, let end else {
            if !loss.isInFile { self.loss = loss }
            return
        }
        guard header.salts == salts else {
            let restarts = header.salts.first &- salts.first
            guard !loss.isInFile, !(1...Self.restartsMax).contains(restarts) else { return }
            loss.finding = .logForeign
            self.loss = loss
            return
        }
        guard end.position.frames < note.frames else { return }
        // SQLite would use the frames that are left in place of later pages of the file.
        loss.finding = .logCut
        loss.framesFound = end.position.frames
        self.loss = loss
    }

    /// Whether to drop the log before SQLite recovers it, once its loss is accepted: it is another one,
    /// or the file has more than what is left of it.
    static func isBehindFile(_ loss: LogLoss, _ path: String) -> Bool {
        guard loss.finding != .logForeign else { return true }
        let (synced, copied) = SyncedNote.records(of: path)
        guard loss.finding == .logCut, let copied, copied.salts == synced?.position.salts
        else { return false }
        return copied.frames > loss.framesFound
    }
}

/// The last commit of a log, found by reading all of it.
struct LogTail {
    var position: LogPosition
    /// Whether frames behind the last valid one have the salts of the log and end a commit.
    var hasCommitsBehind = false
}

extension LogFile {
    /// Reads the log up to its last valid commit.
    func end(_ header: Header) throws(StoreCopyError) -> LogTail {
        var tail = LogTail(position: LogPosition(salts: header.salts, frames: 0, sum: header.sum))
        var sum = header.sum
        var number: Int64 = 0
        while let frame = try self.frame(number, header) {
            guard frame.isOf(header), frame.add(to: &sum, header) else { break }
            number += 1
            guard frame.endsCommit else { continue }
            tail.position.frames = number
            tail.position.sum = sum
        }
        // Frames that were taken back have the salts as well, and end no commit.
        while let frame = try self.frame(number, header), !tail.hasCommitsBehind {
            tail.hasCommitsBehind = frame.isOf(header) && frame.endsCommit
            number += 1
        }
        return tail
    }
}
