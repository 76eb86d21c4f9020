import FileIO
import Foundation

/// A folder that a backup or a restore fills.
///
/// It is new or empty at the beginning.
struct CopyFolder {
    let path: String
    private let wasMade: Bool

    /// A folder that the file system makes.
    ///
    /// It does not count as content.
    static let lostAndFound = "lost+found"

    /// Makes the folder if it does not exist.
    init(making path: String) throws(CommandFailure) {
        self.path = path
        self.wasMade = !FileManager.default.fileExists(atPath: path)
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "the folder \(path) cannot be made: \(FileError.reason(error)). Name one that you may write to."
            )
        }
    }

    /// Removes the permissions of other users from an empty folder, because it will contain all
    /// data and all keys.
    ///
    /// - Throws: `configuration`, if others may write to it.
    func narrow() throws(CommandFailure) {
        _ = try FolderModes(path: self.path).narrow()
    }

    /// Sorted names of the folder's contents.
    func contents() throws(CommandFailure) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: self.path)
                .filter { $0 != Self.lostAndFound }.sorted()
        } catch {
            throw CommandFailure(.cannotCreate, "the folder \(self.path) cannot be read. Check who owns it.")
        }
    }

    /// Fails if the disk has no room for these bytes and some for the file system itself.
    func checkRoom(for bytes: Int64) throws {
        let wanted = bytes + bytes / 64 + 4 * 1_024 * 1_024
        let room = try FileCopy.room(at: self.path)
        guard room < wanted else { return }
        throw CommandFailure(
            .cannotCreate,
            "the disk of \(self.path) has \(room) bytes left, and \(wanted) are needed. "
                + "Make room, or name a folder on another disk."
        )
    }

    /// Writes a small file, durable with its name.
    ///
    /// Fails if the file exists.
    func write(_ text: String, as name: String) throws {
        let path = self.path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
        try self.sync(path)
        try self.sync(self.path)
    }

    /// Renames a file, durably.
    ///
    /// Replaces an existing file.
    func rename(_ draft: String, to name: String) throws {
        guard Foundation.rename(self.path + "/" + draft, self.path + "/" + name) == 0 else {
            throw CopyFailure(path: self.path + "/" + name, errno: errno)
        }
        try self.sync(self.path)
    }

    /// Removes a file, durably.
    func remove(_ name: String) throws {
        guard unlink(self.path + "/" + name) == 0 || errno == ENOENT else {
            throw CopyFailure(path: self.path + "/" + name, errno: errno)
        }
        try self.sync(self.path)
    }

    func makeSubfolder(_ name: String) throws {
        let path = self.path + "/" + name
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw CopyFailure(path: path, errno: errno) }
    }

    /// Makes all contents durable, and the folder's own name.
    func syncAll() throws {
        try FileCopy.syncDisk(of: self.path)
        try self.sync(self.path + "/..")
    }

    /// Removes all contents but the named ones, as far as possible.
    func clear(except kept: [String] = []) {
        let files = FileManager.default
        for name in (try? self.contents()) ?? [] where !kept.contains(name) {
            try? files.removeItem(atPath: self.path + "/" + name)
        }
        if self.wasMade, kept.isEmpty { rmdir(self.path) }
    }

    private func sync(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CopyFailure(path: path, errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw CopyFailure(path: path, errno: errno) }
    }
}

/// A failed system call on a file.
struct CopyFailure: Error {
    let path: String
    let errno: Int32
}
