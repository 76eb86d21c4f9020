import AssetStorage
import FileIO
import Foundation
import StorageContract

/// The paths of asset files.
///
/// ```text
/// assets/              0700
///     2a/              the last two hexadecimal digits of the number
///         1f2a         0600: the bytes of the asset with this number, in hexadecimal
///         1f2a.chunks  during the upload: see ChunkRows
/// ```
///
/// The name of a file is a number that the store assigned. No part of a path comes from a client.
struct AssetFolder: Sendable {
    let path: String
    /// Whether other servers write to the folder as well.
    let isShared: Bool
    /// Bytes that must stay free on the disk for other uses.
    let reserveBytes: @Sendable () -> Int64
    let faults: FileFaults?

    /// Opens the file of an asset for reading.
    func open(_ number: AssetNumber) throws(AssetStoreError) -> OpenFile {
        try self.open(self.file(number), .read)
    }

    /// Opens one of the files in the folder.
    func open(_ path: String, _ mode: OpenFile.Mode) throws(AssetStoreError) -> OpenFile {
        try onFile { () throws(FileError) in try OpenFile(path: path, mode) }
    }

    func file(_ number: AssetNumber) -> String { self.path + "/" + Self.relativePath(number) }

    /// The path relative to the folder of all assets.
    static func relativePath(_ number: AssetNumber) -> String {
        self.folderName(endingIn: self.lastDigits(of: number)) + "/" + self.fileName(number)
    }

    static func fileName(_ number: AssetNumber) -> String { String(number.rawValue, radix: 16) }

    /// The number of a file, or of the asset that a side file belongs to; `nil` if it is neither.
    static func number(ofFile name: String) -> AssetNumber? {
        let digits = name.hasSuffix(self.rowsSuffix) ? name.dropLast(self.rowsSuffix.count) : name[...]
        return Int64(digits, radix: 16).map { AssetNumber(rawValue: $0) }
    }

    /// The number modulo 256, which names the folder of its file.
    static func lastDigits(of number: AssetNumber) -> Int64 { number.rawValue & 0xFF }

    static func folderName(endingIn digits: Int64) -> String {
        (digits < 0x10 ? "0" : "") + String(digits, radix: 16)
    }

    func rows(_ number: AssetNumber) -> String { self.file(number) + Self.rowsSuffix }

    /// Makes the folder of all assets, durably, unless it exists.
    func make() throws(AssetStoreError) {
        try Self.make(self.path)
        try self.syncFolder(self.path + "/..")
    }

    /// Opens the file of an asset for writing.
    ///
    /// Creates it and its folder, durably, if they do not exist.
    func openForWriting(_ number: AssetNumber) throws(AssetStoreError) -> OpenFile {
        do throws(AssetStoreError) {
            return try self.open(self.file(number), .write)
        } catch .missing {
            try self.makeFolder(of: number)
            return try self.open(self.file(number), .write)
        }
    }

    /// Locks the file of an asset against uploads of other servers, until the result is closed.
    ///
    /// Creates the file if it does not exist. Two concurrent uploads would cut off each other's
    /// bytes. The kernel, or the server of a network file system, releases the lock of a process
    /// that ends.
    ///
    /// - Returns: `nil` if no other server uses the folder.
    /// - Throws: `busy` if another server has the lock.
    func lock(_ number: AssetNumber) throws(AssetStoreError) -> OpenFile? {
        guard self.isShared else { return nil }
        while true {
            let file = try self.openForWriting(number)
            guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 else {
                throw errno == EWOULDBLOCK ? .busy : AssetStoreError(errno: errno)
            }
            // The server that had the lock may have removed the file.
            let isThere = try onFile { () throws(FileError) in try file.status().st_nlink > 0 }
            if isThere { return file }
        }
    }

    /// Makes the folder of this asset's file, durably.
    func makeFolder(of number: AssetNumber) throws(AssetStoreError) {
        let folder = self.folder(number)
        guard access(folder, F_OK) != 0 else { return }
        try Self.make(folder)
        try self.syncFolder(self.path)
    }

    /// Makes the directory entries of the folder of this asset's file durable.
    func syncFolder(of number: AssetNumber) throws(AssetStoreError) {
        try self.syncFolder(self.folder(number))
    }

    /// Removes the files of an asset.
    ///
    /// A missing file is no error.
    ///
    /// - Durability: after `syncFolder`.
    func unlinkAll(_ number: AssetNumber) throws(AssetStoreError) {
        // The rows go first: an upload that finds no file reads no rows.
        try self.unlinkIfThere(self.rows(number))
        try self.unlinkIfThere(self.file(number))
    }

    func unlinkIfThere(_ path: String) throws(AssetStoreError) {
        try self.pass(.unlink)
        guard unlink(path) == 0 || errno == ENOENT else { throw AssetStoreError(errno: errno) }
    }

    /// Fails if `bytes` more would leave less than the reserve on the disk.
    func checkRoom(for bytes: Int64) throws(AssetStoreError) {
        let room = try onFile { () throws(FileError) in try FileCopy.room(at: self.path) }
        guard room == .max || room - self.reserveBytes() >= bytes else { throw .full }
    }

    /// Fails if a test injects a fault at this step.
    func pass(_ step: FileStep) throws(AssetStoreError) {
        guard let errno = self.faults?(step), errno != 0 else { return }
        throw AssetStoreError(errno: errno)
    }

    private static let rowsSuffix = ".chunks"

    private func folder(_ number: AssetNumber) -> String {
        self.path + "/" + Self.folderName(endingIn: Self.lastDigits(of: number))
    }

    private static func make(_ path: String) throws(AssetStoreError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw AssetStoreError(errno: errno) }
    }

    private func syncFolder(_ path: String) throws(AssetStoreError) {
        try self.pass(.syncFolder)
        let descriptor = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder that was never made has no entries to lose.
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw AssetStoreError(errno: errno) }
            return
        }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw AssetStoreError(errno: errno) }
    }
}
