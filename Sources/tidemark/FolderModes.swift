import Foundation
import ServerCertificates

/// What users other than its owner may do with a folder of ours, and with what is in it.
///
/// - Source: PostgreSQL refuses a data directory that others may write to, and its `initdb` takes their access to an empty one.
struct FolderModes {
    let path: String

    /// Refuses a folder that others may write to, unless it is ours and empty: then `narrow` takes that from them.
    ///
    /// - Throws: `configuration`, with the command to type.
    func check() throws(CommandFailure) {
        guard let status = FileStatus(path: self.path), status.isWritableForOthers else { return }
        guard status.owner != geteuid() || !self.isEmpty else { return }
        throw self.isShared(status)
    }

    /// Takes from others what they may do with folders and files in it, none of which need be there, and with the folder if it is empty.
    ///
    /// One that is not empty may be used for other things too. Others who may look into it learn names, since no file is theirs to read.
    ///
    /// - Returns: The paths of those that others had access to.
    /// - Throws: `configuration`, if others may still write, or have put something into a folder that was empty.
    func narrow(folders: [String] = [], files: [String] = []) throws(CommandFailure) -> [String] {
        try self.check()
        var narrowed: [String] = []
        if self.isEmpty, let before = FileStatus(path: self.path) {
            narrowed += try self.narrow(before)
            guard self.isEmpty else {
                // As it was: the next one to look is not to take it for ours.
                chmod(self.path, before.mode)
                throw self.isShared(before)
            }
        }
        // A link to a folder is an operator's who has its contents on another disk. A link in the place of a file stays as it is.
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
        // Of another owner, on a file system that keeps no modes, …: who can only read learns some names.
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
            "other users may write to \(self.path) (mode \(digits)), and put files in the place of ours. Look what is in it, "
                + "and take that from them: chmod 700 \(quoted). Where that is not possible, as on a volume of a container, "
                + "name a folder in it that is not there yet."
        )
    }
}
