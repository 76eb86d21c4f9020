import Administration
import Foundation
import StorageContract

/// The owner of a data folder, and whether this process may work in it.
///
/// No process works in another user's folder, not even root's. Files that root makes there would
/// keep the owner's server from starting.
struct DataFolderAccess {
    let folder: DataFolder

    /// Refuses a folder that belongs to another user or has another user's files, and one that
    /// others may write to.
    ///
    /// - Throws: `noPermission` and `configuration`, with the command to type instead; `noStore` if
    ///   the path is not a folder; `unavailable` if the file system is read-only.
    func check() throws(CommandFailure) {
        guard let owner = try self.owner(of: self.folder.path) else { return }
        let own = geteuid()
        if owner != own, own == 0 || (access(self.folder.path, R_OK | W_OK | X_OK) != 0 && errno != EROFS) {
            throw self.isOfAnother(owner)
        }
        guard access(self.folder.path, R_OK | W_OK | X_OK) == 0 else {
            if errno == EROFS { throw ReadOnlyDisk.refusal(self.folder.path) }
            throw CommandFailure(
                .noPermission,
                "\(self.folder.path) refuses access to its owner, \(Self.name(of: own)): "
                    + "chmod 700 \(ShellText.quoted(self.folder.path))"
            )
        }
        for name in Self.files + ["tls", "assets"] {
            try self.checkFile(self.folder.path + "/" + name)
        }
        try FolderModes(path: self.folder.path).check()
    }

    /// Removes the permissions of other users on the folder.
    ///
    /// `tls` has rules of its own: see CertificateFiles.
    ///
    /// - Returns: The paths that other users had access to.
    func narrow() throws(CommandFailure) -> [String] {
        try FolderModes(path: self.folder.path).narrow(folders: ["assets"], files: Self.files)
    }

    private static let files = EngineOpening.files.names + ["lock", StoreAddress.fileName, MoveMark.fileName]

    /// Refuses a folder that this process cannot read.
    ///
    /// - Throws: `noPermission`, `noStore`.
    func checkReading() throws(CommandFailure) {
        guard let owner = try self.owner(of: self.folder.path) else { return }
        guard access(self.folder.path, R_OK | X_OK) == 0 else { throw self.isOfAnother(owner) }
    }

    /// Detects files that an earlier command of root's has left.
    private func checkFile(_ path: String) throws(CommandFailure) {
        guard access(path, R_OK | W_OK) != 0, errno == EACCES, let owner = try self.owner(of: path) else {
            return
        }
        throw CommandFailure(
            .noPermission,
            "permission denied: \(path) belongs to \(Self.name(of: owner)), and this is \(Self.name(of: geteuid())). "
                + "Give the folder one owner: sudo chown -R \(Self.name(of: geteuid())) "
                + ShellText.quoted(self.folder.path)
        )
    }

    /// The user ID, or `nil` if the path does not exist.
    private func owner(of path: String) throws(CommandFailure) -> uid_t? {
        guard access(path, F_OK) == 0 else {
            guard errno == EACCES else { return nil }
            throw CommandFailure(
                .noPermission,
                "permission denied: \(path) is in a folder that \(Self.name(of: geteuid())) may not enter. "
                    + "Run the command as the user whose server it is: sudo -u USER \(self.command)"
            )
        }
        let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: resolved) else { return nil }
        guard path != self.folder.path || attributes[.type] as? FileAttributeType == .typeDirectory else {
            throw CommandFailure(
                .noStore,
                "\(path) is not a folder. Name the server's data folder with --data."
            )
        }
        return (attributes[.ownerAccountID] as? NSNumber)?.uint32Value
    }

    private func isOfAnother(_ owner: uid_t) -> CommandFailure {
        CommandFailure(
            .noPermission,
            "permission denied: \(self.folder.path) belongs to \(Self.name(of: owner)), and this is "
                + "\(Self.name(of: geteuid())). Run the command as its owner: sudo -u \(Self.name(of: owner)) \(self.command)"
        )
    }

    /// This command with an explicit folder, because `sudo` does not pass the environment variable
    /// on.
    private var command: String {
        var words = CommandLine.arguments
        if !words.contains(where: { $0 == "--data" || $0.hasPrefix("--data=") }) {
            words += ["--data", self.folder.path]
        }
        return words.map { ShellText.quoted($0) }.joined(separator: " ")
    }

    /// The user's name, or the number if there is none, in the form for `sudo` and `chown`.
    private static func name(of user: uid_t) -> String {
        guard let entry = getpwuid(user), let name = entry.pointee.pw_name else { return "#\(user)" }
        return String(cString: name)
    }
}

/// Text in the form that a shell reads.
enum ShellText {
    /// In single quotes if any character needs them.
    static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "/._-=:,@%+".utf8.contains(byte)
                }
            }
        return isPlain ? text : "'" + text.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }
}
