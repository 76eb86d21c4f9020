import Administration
import Foundation

/// Notes about backups and their places, and about rehearsals of restores: `backups.json` in the data
/// folder.
///
/// The commands that make and rehearse backups add to it, and the console shows it. It is only a
/// note: backups are complete without it, and a file that cannot be read is begun anew.
struct BackupNotes: Codable, Hashable {
    struct Made: Codable, Hashable {
        enum Kind: String, Codable {
            case folder
            case continued
            case stream
        }

        var kind: Kind
        /// Absolute; empty for a stream.
        var path: String
        /// When it was complete; of a continued one, when a process last began to continue it.
        var date: Moment
        var bytes: Int64?
        var assets: Int?
        /// Assets that it lacks.
        var damaged: Int?
        var server: String
    }

    struct Drill: Codable, Hashable {
        var path: String
        /// When it ended.
        var date: Moment
        var seconds: Double
        var records: Int64
        /// The first of them.
        var problems: [String]
    }

    static let currentFormat = 1
    static let name = "backups.json"
    /// The oldest give way.
    private static let madeMax = 100
    private static let drillsMax = 20
    private static let problemsMax = 10
    private static let problemBytesMax = 1_024
    private static let bytesMax = 1_024 * 1_024

    var format = Self.currentFormat
    /// The newest last.
    var backups: [Made] = []
    /// The newest last.
    var drills: [Drill] = []

    static func path(in folder: DataFolder) -> String { folder.path + "/" + self.name }

    /// Reads the notes of a folder; they are empty if there is no file that can be read.
    static func read(in folder: DataFolder) -> BackupNotes {
        guard let file = FileHandle(forReadingAtPath: self.path(in: folder)),
            let data = try? file.read(upToCount: self.bytesMax),
            let notes = try? JSONDecoder().decode(BackupNotes.self, from: data),
            notes.format == self.currentFormat
        else { return BackupNotes() }
        return notes
    }

    // MARK: Adding

    mutating func add(_ made: Made) {
        // The same folder again, or a chain that goes on: the newest note says all.
        if !made.path.isEmpty { self.backups.removeAll { $0.path == made.path } }
        self.backups = Array((self.backups + [made]).suffix(Self.madeMax))
    }

    mutating func add(_ drill: Drill) {
        var drill = drill
        drill.problems = drill.problems.prefix(Self.problemsMax).map {
            String(decoding: $0.utf8.prefix(Self.problemBytesMax), as: UTF8.self)
        }
        self.drills = Array((self.drills + [drill]).suffix(Self.drillsMax))
    }

    /// Notes a backup; `target` is `nil` for a stream.
    static func note(_ manifest: BackupManifest, to target: BackupFolder?, in folder: DataFolder) {
        self.change(in: folder) { notes in
            notes.add(
                Made(
                    kind: target == nil ? .stream : .folder,
                    path: target?.path ?? "",
                    date: Moment(text: manifest.date) ?? .now,
                    bytes: manifest.bytes,
                    assets: manifest.assets,
                    damaged: manifest.damaged.isEmpty ? nil : manifest.damaged.count,
                    server: manifest.server
                )
            )
        }
    }

    static func note(_ chain: BackupChain, in folder: DataFolder) {
        self.change(in: folder) { notes in
            notes.add(Made(kind: .continued, path: chain.path, date: .now, server: Tidemark.version))
        }
    }

    /// Notes a rehearsal if there is a folder to note it in.
    static func note(_ report: DrillReport, in folder: DataFolder) {
        guard folder.hasStore else { return }
        self.change(in: folder) { notes in
            notes.add(
                Drill(
                    path: report.backup,
                    date: .now,
                    seconds: report.seconds,
                    records: report.records,
                    problems: report.problems
                )
            )
        }
    }

    /// Changes the file in one step, after other commands that change it.
    ///
    /// A note that cannot be written costs a line of the log: the backup is complete.
    private static func change(in folder: DataFolder, _ body: (inout BackupNotes) -> Void) {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        let path = self.path(in: folder)
        do {
            guard descriptor >= 0, flock(descriptor, LOCK_EX) == 0 else {
                throw CocoaError(.fileWriteUnknown)
            }
            var notes = self.read(in: folder)
            body(&notes)
            try WholeFile.replace(path, with: JSONText.of(notes))
        } catch {
            Terminal.writeError(
                "tidemark: the console will not list this, because \(path) cannot be written. Check the room on its disk, and "
                    + "who owns it.\n"
            )
        }
    }
}
