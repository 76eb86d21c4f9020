import Administration
import Foundation
import RecordServer

/// What was verified last, and how far a verification has come: `verified.json` in the data folder.
///
/// The server and `tidemark verify` write it; `tidemark status` and the metrics read it. It is only a
/// note: without it everything is verified anew.
struct VerificationNote: Codable, Hashable {
    /// A verification that came to its end.
    struct Ended: Codable, Hashable {
        var began: Moment
        var ended: Moment
        var findings: Int
    }

    /// One that has not.
    struct Running: Codable, Hashable {
        var began: Moment
        var position: VerificationPosition
        /// Those before the position.
        var findings: Int
    }

    static let name = "verified.json"
    private static let bytesMax = 64 * 1_024

    var last: Ended?
    /// Of the server: it goes on there after a restart.
    var running: Running?

    static func path(in folder: DataFolder) -> String { folder.path + "/" + self.name }

    /// Reads the note of a folder; it is empty if there is no file that can be read.
    static func read(in folder: DataFolder) -> VerificationNote {
        guard let file = FileHandle(forReadingAtPath: self.path(in: folder)),
            let data = try? file.read(upToCount: self.bytesMax),
            let note = try? JSONDecoder().decode(VerificationNote.self, from: data)
        else { return VerificationNote() }
        return note
    }

    func write(in folder: DataFolder) throws {
        try WholeFile.replace(Self.path(in: folder), with: JSONText.of(self))
    }

    /// Empty before the first verification has ended.
    var readings: [Metric] {
        guard let last else { return [] }
        return [
            Metric(.verified, Double(last.ended.milliseconds) / 1_000),
            Metric(.verificationFindings, max(last.findings, self.running?.findings ?? 0)),
        ]
    }
}
