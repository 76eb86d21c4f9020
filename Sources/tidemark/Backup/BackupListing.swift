import Administration
import Console
import Foundation

/// The backups of a folder: the noted ones, and others beside them.
struct BackupListing {
    /// Maximum number of folders that are searched for other backups, and of folders in each.
    private static let parentsMax = 8
    private static let siblingsMax = 500

    let folder: DataFolder

    var known: KnownBackups {
        let notes = BackupNotes.read(in: self.folder)
        var known = KnownBackups()
        let noted = notes.backups.map { self.backup($0) }
        let paths = Set(noted.map(\.path))
        let parents = notes.backups.reversed().filter { $0.kind == .folder }.map {
            URL(fileURLWithPath: $0.path).deletingLastPathComponent().path
        }
        var seen: [String] = []
        for parent in parents where !seen.contains(parent) && seen.count < Self.parentsMax {
            seen.append(parent)
        }
        known.backups = (noted + seen.flatMap { self.siblings(in: $0, without: paths) }).sorted {
            ($0.milliseconds ?? 0, $0.path) > ($1.milliseconds ?? 0, $1.path)
        }
        known.drills = notes.drills.reversed().map { drill in
            KnownBackups.Drill(
                path: drill.path,
                milliseconds: drill.date.milliseconds,
                seconds: drill.seconds,
                records: drill.records,
                problems: drill.problems
            )
        }
        known.suggestedPath = seen.first.map { self.freeName(in: $0) }
        known.obstacle = self.obstacle
        return known
    }

    private var obstacle: String? {
        guard StoreAddress.exists(in: self.folder) else { return nil }
        return
            "The store is in PostgreSQL, which has backups of its own: use pg_dump, and copy \(self.folder.assetsPath) after it."
    }

    /// Such as `/mnt/backups/2026-11-26`, or with a number after it.
    private func freeName(in parent: String) -> String {
        let day = Moment.now.text.prefix(10)
        let names = ["\(day)"] + (2..<100).map { "\(day)-\($0)" }
        let free = names.first { !FileManager.default.fileExists(atPath: parent + "/" + $0) }
        return parent + "/" + (free ?? Moment.now.fileName)
    }

    // MARK: States

    private func backup(_ note: BackupNotes.Made) -> KnownBackups.Backup {
        switch note.kind {
        case .folder: return Self.folderBackup(at: note.path)
        case .continued: return Self.chain(at: note.path, server: note.server)
        case .stream:
            var backup = KnownBackups.Backup(
                path: "",
                kind: .stream,
                state: note.damaged.map { .lacking(assets: $0) } ?? .complete
            )
            backup.milliseconds = note.date.milliseconds
            backup.bytes = note.bytes
            backup.assets = note.assets
            backup.server = note.server
            return backup
        }
    }

    private static func folderBackup(at path: String) -> KnownBackups.Backup {
        let folder = BackupFolder(path: path)
        var backup = KnownBackups.Backup(path: path, kind: .folder, state: .complete)
        guard FileManager.default.fileExists(atPath: path) else {
            backup.state = .missing
            return backup
        }
        do throws(CommandFailure) {
            let manifest = try BackupManifest.read(in: folder)
            if !manifest.damaged.isEmpty { backup.state = .lacking(assets: manifest.damaged.count) }
            backup.milliseconds = Moment(text: manifest.date)?.milliseconds
            backup.bytes = manifest.bytes
            backup.assets = manifest.assets
            backup.server = manifest.server
        } catch {
            backup.state =
                FileManager.default.fileExists(atPath: folder.unfinishedPath)
                ? .incomplete : .unreadable(error.message)
        }
        return backup
    }

    private static func chain(at path: String, server: String?) -> KnownBackups.Backup {
        let chain = BackupChain(path: path)
        var backup = KnownBackups.Backup(path: path, kind: .continued, state: .complete)
        backup.server = server
        backup.oldestMilliseconds = chain.bases().first?.time.milliseconds
        if let tip = chain.tip() {
            backup.milliseconds = tip.checked.milliseconds
        } else {
            backup.state = FileManager.default.fileExists(atPath: path) ? .incomplete : .missing
        }
        return backup
    }

    /// Complete backups in a folder that are not noted, such as those of an earlier version.
    private func siblings(in parent: String, without known: Set<String>) -> [KnownBackups.Backup] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        return names.sorted().suffix(Self.siblingsMax).map { parent + "/" + $0 }
            .filter { !known.contains($0) }.compactMap { Self.complete(at: $0) }
    }

    /// The backup at a path, or the backups in it, the newest first.
    static func backups(at location: String) -> [KnownBackups.Backup] {
        let path = URL(fileURLWithPath: location).standardizedFileURL.path
        if let one = self.complete(at: path) { return [one] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.sorted().compactMap { self.complete(at: path + "/" + $0) }.sorted {
            ($0.milliseconds ?? 0, $0.path) > ($1.milliseconds ?? 0, $1.path)
        }
    }

    /// `nil` if the folder is no backup, or one that was never complete.
    private static func complete(at path: String) -> KnownBackups.Backup? {
        if FileManager.default.fileExists(atPath: BackupFolder(path: path).manifestPath) {
            return self.folderBackup(at: path)
        }
        return BackupChain(path: path).isThere ? self.chain(at: path, server: nil) : nil
    }
}

/// A backup that the console's operator makes, in the console's process.
struct ConsoleBackup {
    let folder: DataFolder

    func make(_ path: String, watch: CopyWatch) -> BackupEnd {
        let target = BackupFolder(path: path)
        do {
            var run = try BackupRun(of: self.folder, to: target, watch: watch)
            let manifest = try run.run()
            BackupNotes.note(manifest, to: target, in: self.folder)
            // A line for the operator's records, like that of a save.
            Terminal.writeError(
                "tidemark: \(ProcessInfo.processInfo.userName) backed up \(self.folder.path) to \(target.path)\n"
            )
            guard manifest.damaged.isEmpty else {
                return .failed(
                    "\(manifest.damaged.count) assets are missing or damaged in the data folder, and not in it. Everything else "
                        + "is. List them: tidemark assets verify"
                )
            }
            return .made(bytes: manifest.bytes, assets: manifest.assets)
        } catch let failure as CommandFailure {
            return .failed(failure.message.replacing(" with --to", with: ""))
        } catch {
            return .failed("\(error)")
        }
    }
}
