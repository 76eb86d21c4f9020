import Administration
import Foundation
import StorageContract

/// The contents of a data folder before a server makes a store in it.
struct FolderContents {
    let folder: DataFolder

    /// Files that a server makes after its store, or that only a store has.
    private static let laterFiles = ["reserve", TelemetryFile.name, BackupNotes.name]
    private static let known = ServerWait.firstFiles.union(Self.laterFiles).union([
        "console.log", ServedSettings.name,
    ])

    /// Refuses to make a store's file where one was lost.
    ///
    /// A store that begins anew would report to its clients that everything is gone.
    ///
    /// - Throws: `data`.
    func refuseRemains() throws(CommandFailure) {
        guard !self.hasContent(EngineOpening.files.name) else { return }
        var remains = Self.laterFiles.filter { self.hasContent($0) }
        let beside = EngineOpening.files.names.filter { $0.hasPrefix(EngineOpening.files.name + "-") }
        remains += beside.filter { self.hasContent($0) }
        if !self.names(in: self.folder.assetsPath).isEmpty { remains.append("assets/") }
        guard !remains.isEmpty else { return }
        let state = self.folder.hasFile ? "is empty" : "is missing"
        throw CommandFailure(
            .data,
            "\(EngineOpening.files.name) \(state) in \(self.folder.path), where a store was: \(remains.joined(separator: ", ")). "
                + "Restore a backup into another folder: tidemark restore --from BACKUP --data DIR. "
                + "To begin anew without anything of what was stored, name another folder with --data, or move these files away."
        )
    }

    /// Refuses to make a store in a folder that has files other than Tidemark's.
    ///
    /// Hidden files, as in the home of a user, and files that settings name are no reason. `paths` are
    /// those of the settings, alone or in longer texts.
    ///
    /// - Throws: `cannotCreate`.
    func refuseForeign(exceptNamedIn paths: [String]) throws(CommandFailure) {
        guard !self.folder.hasStore else { return }
        let foreign = self.names(in: self.folder.path).filter { name in
            let path = self.folder.path + "/" + name
            return !Self.known.contains(name) && !name.hasPrefix(".") && !paths.contains { $0.contains(path) }
        }
        guard !foreign.isEmpty else { return }
        let few = foreign.prefix(5).joined(separator: ", ") + (foreign.count > 5 ? ", …" : "")
        let inside = ShellText.quoted(self.folder.path + "/tidemark")
        throw CommandFailure(
            .cannotCreate,
            "\(self.folder.path) has no store, and files that are not Tidemark's: \(few). A store gets a folder of its own. "
                + "Name an absent or empty one: tidemark serve --data \(inside). If the folder is meant to be the server's, "
                + "move these files away."
        )
    }

    private func hasContent(_ name: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: self.folder.path + "/" + name)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0 > 0
    }

    /// A file system of its own may have `lost+found`, the folder for files that its repair finds.
    private func names(in path: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0 != "lost+found" }.sorted()
    }
}

/// Whether a path is on a file system that is mounted read-only, whatever the modes say.
enum ReadOnlyDisk {
    /// Checks the path, or the folder that it would be in.
    static func has(_ path: String) -> Bool {
        var status = statvfs()
        var path = path
        while statvfs(path, &status) != 0 {
            guard errno == ENOENT, path.count > 1 else { return false }
            path = (path as NSString).deletingLastPathComponent
        }
        return status.f_flag & UInt(ST_RDONLY) != 0
    }

    /// The error for a folder that has to be written to.
    static func refusal(_ path: String) -> CommandFailure {
        CommandFailure(
            .unavailable,
            "the file system of \(path) is mounted read-only. Mount it for writing; the kernel's log says whether it "
                + "was mounted so because its disk has errors."
        )
    }
}
