import Foundation
import ServerCertificates

/// The permissions of other users on a folder of ours, and on its contents.
///
/// - Source: PostgreSQL refuses a data directory that others may write to, and its `initdb` removes
///   their access to an empty one.
struct FolderModes {
    let path: String

    /// Refuses a folder that others may write to, unless it is ours and empty.
    ///
    /// Then `narrow` removes their access.
    ///
    /// - Throws: `configuration`, with the command to type.
    func check() throws(CommandFailure) {
        guard let status = FileStatus(path: self.path), status.isWritableForOthers else { return }
        guard status.owner != geteuid() || !self.isEmpty else { return }
        throw self.isShared(status)
    }

    /// Removes the permissions of others on folders and files in it, as far as they exist, and on
    /// the folder if it is empty.
    ///
    /// A folder that is not empty may have other uses too. Others who may list it learn names, but
    /// can read no file.
    ///
    /// - Returns: The paths that other users had access to.
    /// - Throws: `configuration`, if others may still write, or have written to a folder that was
    ///   empty.
    func narrow(folders: [String] = [], files: [String] = []) throws(CommandFailure) -> [String] {
        try self.check()
        var narrowed: [String] = []
        if self.isEmpty, let before = FileStatus(path: self.path) {
            narrowed += try self.narrow(before)
            guard self.isEmpty else {
                // Restore the mode, so that the next check does not take the folder for ours.
                chmod(self.path, before.mode)
                throw self.isShared(before)
            }
        }
        // An operator may link a folder to another disk. A link in place of a file is left alone.
        for name in folders {
            let folder = FolderModes(path: self.path + "/" + name)
            let status = FileStatus(path: folder.path)
            if let status, status.isFolder { narrowed += try folder.narrow(status) }
        }
        for name in files {
            let file = FolderModes(path: self.path + "/" + name)
            let status = FileStatus(path: file.path, followsLinks: false)
            if let status, status.isFile { narrowed += try file.narrow(status) }
        }
        return narrowed
    }

    private func narrow(_ status: FileStatus) throws(CommandFailure) -> [String] {
        guard status.othersMode != 0 else { return [] }
        if chmod(self.path, status.mode & ~status.othersMode) == 0 { return [self.path] }
        // The folder has another owner, or its file system has no modes. Readers learn only some
        // names.
        guard !status.isWritableForOthers else { throw self.isShared(status) }
        return []
    }

    private var isEmpty: Bool {
        let names = try? FileManager.default.contentsOfDirectory(atPath: self.path)
        return names?.allSatisfy { $0 == CopyFolder.lostAndFound } ?? false
    }

    private func isShared(_ status: FileStatus) -> CommandFailure {
        let quoted = ShellText.quoted(self.path)
        let digits = String(status.mode, radix: 8)
        return CommandFailure(
            .configuration,
            "other users may write to \(self.path) (mode \(digits)), and could replace its files. Check its contents, "
                + "and remove their access: chmod 700 \(quoted). If that is not possible, as on a volume of a container, "
                + "name a new folder in it."
        )
    }
}
