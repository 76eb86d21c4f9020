internal import FileIO
internal import Foundation
internal import RecordClient
internal import RecordModel
private import Synchronization
private import SystemCrypto

/// An incomplete file of the cache; it grows at its end, and its bytes are hashed as they come.
///
/// It is locked for as long as it is open, so that no other download and no other process writes to
/// it.
final class PartialAsset: Sendable {
    private static let stepBytes: Int64 = 8 * 1024 * 1024
    private static let pieceBytes = 256 * 1024

    let asset: Asset
    let path: String
    private let file: OpenFile
    private let writer: FileWriter
    /// How many bytes are there; locked while bytes are added.
    private let count = Mutex<Int64>(0)
    /// The hash of the recovered bytes and of those that have come since; locked after `count`.
    private let hasher = Mutex(SHA256())

    /// Opens the file, or creates it; for threads for files.
    ///
    /// - Returns: `nil` if another download has locked it.
    init?(_ asset: Asset, path: String) throws(FileFailure) {
        self.asset = asset
        self.path = path
        while true {
            let file = try Self.onFile(path) { () throws(FileError) in
                try OpenFile(path: path, .write)
            }
            guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
            var ofName = stat()
            if let ofOpen = try? file.status(), stat(path, &ofName) == 0,
                ofOpen.st_ino == ofName.st_ino, ofOpen.st_dev == ofName.st_dev
            {
                self.file = file
                self.writer = FileWriter(file, isLarge: asset.size >= FileWriter.largeBytesMin)
                return
            }
            // The earlier owner of the lock has completed the file, or removed it.
        }
    }

    /// How many bytes are there.
    var length: Int64 { self.count.withLock { $0 } }

    /// Hashes the rest of an earlier download, and cuts off bytes beyond the asset's size.
    func recover() async throws(CKError) {
        var isThrough = false
        while !isThrough {
            guard !Task.isCancelled else { throw .cancelled }
            do throws(FileFailure) {
                isThrough = try await FileThreads.shared.result { () throws(FileFailure) in
                    try self.recoverStep()
                }
            } catch {
                throw CKError(error)
            }
        }
    }

    /// - Returns: Whether all bytes are hashed.
    private func recoverStep() throws(FileFailure) -> Bool {
        let size = try Self.onFile(self.path) { () throws(FileError) in try self.file.size() }
        if size > self.asset.size {
            try self.clear()
            return true
        }
        let there = self.usable(size)
        return try self.count.withLock { length throws(FileFailure) in
            let end = min(there, length + Self.stepBytes)
            let memory = FileMemory.allocate(byteCount: Self.pieceBytes, alignment: 16)
            defer { memory.deallocate() }
            while length < end {
                let piece = FileMemory(rebasing: memory[..<Int(min(end - length, Int64(memory.count)))])
                let offset = length
                let count = try Self.onFile(self.path) { () throws(FileError) in
                    try self.file.read(into: piece, at: offset)
                }
                // Another process has cut the file.
                guard count > 0 else { throw Self.failed(self.path, FileError(errno: EIO)) }
                self.hash(FileBytes(rebasing: memory[..<count]))
                length += Int64(count)
            }
            return length == there
        }
    }

    /// Returns the offset at which a download continues: for a large file a multiple of the page
    /// size, as it is written in whole pages.
    private func usable(_ size: Int64) -> Int64 {
        guard size < self.asset.size, self.asset.size >= FileWriter.largeBytesMin else { return size }
        return size / Int64(FileWriter.pageBytes) * Int64(FileWriter.pageBytes)
    }

    /// Writes bytes at the end, which `hash` gets as well.
    func write(_ pieces: [FileBytes], at offset: Int64) throws(FileFailure) {
        try self.count.withLock { length throws(FileFailure) in
            guard offset == length else { throw .failed("\(self.path) has a gap at \(offset)") }
            try Self.onFile(self.path) { () throws(FileError) in
                try self.writer.write(pieces, at: offset)
            }
            length = pieces.reduce(length) { $0 + Int64($1.count) }
        }
    }

    /// Hashes the next bytes, in order; may run while others are written.
    func hash(_ bytes: FileBytes) { self.hasher.withLock { $0.add(bytes) } }

    /// Whether the file is the asset; to be asked when all bytes are written and hashed.
    var isAsset: Bool {
        self.length == self.asset.size
            && self.hasher.withLock { $0.value == self.asset.sha256 }
    }

    /// Empties the file.
    func clear() throws(FileFailure) {
        try Self.onFile(self.path) { () throws(FileError) in try self.file.cut(to: 0) }
        self.count.withLock { length in
            length = 0
            self.hasher.withLock { $0 = SHA256() }
        }
    }

    /// Moves the complete file to its path; from then on it is only read.
    func complete(at path: String) throws(FileFailure) {
        guard fchmod(self.file.descriptor, 0o400) == 0, rename(self.path, path) == 0 else {
            throw Self.failed(path)
        }
    }

    private static func onFile<Value>(
        _ path: String,
        _ calls: () throws(FileError) -> Value
    ) throws(FileFailure) -> Value {
        do throws(FileError) {
            return try calls()
        } catch {
            throw Self.failed(path, error)
        }
    }

    static func failed(_ path: String, _ error: FileError = FileError(errno: errno)) -> FileFailure {
        .failed("The cache of assets can't be written at '\(path)': \(error.reason)")
    }
}
