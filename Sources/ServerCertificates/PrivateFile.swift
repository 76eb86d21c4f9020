import Foundation

/// Small files that only their owner may read.
enum PrivateFile {
    /// Makes a folder for the owner alone, unless it exists.
    static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    /// Removes the permissions of other users on a file or a folder.
    ///
    /// - Returns: Whether they had any; `false` also if the path does not exist.
    static func narrow(_ path: String) throws -> Bool {
        guard let status = FileStatus(path: path), status.othersMode != 0 else { return false }
        guard chmod(path, status.mode & ~status.othersMode) == 0 else { throw self.lastError(path: path) }
        return true
    }

    /// The text of a file, or `nil` if it does not exist.
    static func read(_ path: String) throws -> String? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    /// Replaces a file as a whole.
    ///
    /// After a crash there is the old file or the new one.
    ///
    /// - Durability: on disk when this returns.
    static func write(_ text: String, to path: String) throws {
        let draft = path + ".new"
        _ = unlink(draft)
        // Set the mode at creation, so that other users can never read the key.
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw self.lastError(path: draft) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data(text.utf8))
        try file.synchronize()
        try file.close()
        guard rename(draft, path) == 0 else { throw self.lastError(path: path) }
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw self.lastError(path: path) }
        let folderHandle = FileHandle(fileDescriptor: folder, closeOnDealloc: true)
        try folderHandle.synchronize()
        try folderHandle.close()
    }

    private static func lastError(path: String) -> CocoaError {
        let reason = POSIXError.Code(rawValue: errno).map { POSIXError($0) }
        var info: [String: Any] = [NSFilePathErrorKey: path]
        if let reason { info[NSUnderlyingErrorKey] = reason }
        return CocoaError(.fileWriteUnknown, userInfo: info)
    }
}
