import FileIO
import Foundation
import RecordClient
import RecordModel
import Synchronization
import SystemCrypto

/// A file with the bytes of one asset, or of many in a row.
///
/// Each seed gives other bytes: an asset begins with the seed and its number.
final class SourceFile: Sendable {
    private static let blockBytes = 1_024 * 1_024

    private let file: OpenFile
    let assetBytes: Int
    let assetCount: Int

    /// Opens the file, or makes it and syncs it.
    init(_ path: String, assetBytes: Int, assetCount: Int) throws {
        self.assetBytes = assetBytes
        self.assetCount = assetCount
        let file = try LoadFailure.onFile(path) { () throws(FileError) in
            try OpenFile(path: path, .write)
        }
        self.file = file
        let size = try LoadFailure.onFile(path) { () throws(FileError) in try file.size() }
        guard Int(size) != assetBytes * assetCount else { return }
        var generator = SplitMix64(seed: 7)
        let block = (0..<Self.blockBytes / 8).map { _ in generator.next() }
        var offset = 0
        while offset < assetBytes * assetCount {
            let count = min(Self.blockBytes, assetBytes * assetCount - offset)
            // SAFETY: the bytes are used within the call only, and no more of them than there are.
            try block.withUnsafeBytes { bytes in
                try LoadFailure.onFile(path) { () throws(FileError) in
                    try file.write(FileBytes(rebasing: bytes[..<count]), at: Int64(offset))
                }
            }
            offset += count
        }
        try LoadFailure.onFile(path) { () throws(FileError) in try file.sync() }
    }

    /// The assets of a seed.
    func assets(seed: UInt64) throws -> [Asset] {
        try (0..<self.assetCount).map { number in
            var hash = SHA256()
            var block = [UInt8](repeating: 0, count: min(Self.blockBytes, self.assetBytes))
            for offset in stride(from: 0, to: self.assetBytes, by: block.count) {
                let count = min(block.count, self.assetBytes - offset)
                // SAFETY: the memory is the array's, for the time of the call.
                try block.withUnsafeMutableBytes { memory in
                    let piece = FileMemory(rebasing: memory[..<count])
                    try self.read(number, Int64(offset), piece, seed: seed)
                    hash.add(FileBytes(piece))
                }
            }
            return Asset(sha256: hash.value, size: Int64(self.assetBytes))
        }
    }

    /// Fills memory with bytes of an asset.
    ///
    /// The first piece has at least 16.
    func read(_ number: Int, _ offset: Int64, _ memory: FileMemory, seed: UInt64) throws(FileFailure) {
        let count: Int
        do throws(FileError) {
            count = try self.file.read(into: memory, at: Int64(number * self.assetBytes) + offset)
        } catch {
            throw .failed("a source file cannot be read: \(error.reason)")
        }
        guard count == memory.count else { throw .failed("a source file is too short") }
        guard offset == 0 else { return }
        memory.storeBytes(of: seed, as: UInt64.self)
        memory.storeBytes(of: UInt64(number), toByteOffset: 8, as: UInt64.self)
    }
}

/// A file that a download writes to, like the cache of the SDK: without a sync, and with a hash.
final class TargetFile: Sendable {
    private let path: String
    private let writer: FileWriter
    private let length = Mutex<Int64>(0)
    private let hash = Mutex(SHA256())

    init(_ path: String, assetBytes: Int64) throws {
        self.path = path
        let file = try LoadFailure.onFile(path) { () throws(FileError) in
            try OpenFile(path: path, .replace)
        }
        self.writer = FileWriter(file, isLarge: assetBytes >= FileWriter.largeBytesMin)
    }

    func write(_ pieces: [FileBytes], at offset: Int64) throws(FileFailure) {
        try self.length.withLock { length throws(FileFailure) in
            guard length == offset else { throw .failed("a gap at \(offset)") }
            do throws(FileError) {
                try self.writer.write(pieces, at: offset)
            } catch {
                throw .failed("a target file cannot be written: \(error.reason)")
            }
            length = pieces.reduce(length) { $0 + Int64($1.count) }
        }
    }

    func digest(_ bytes: FileBytes) { self.hash.withLock { $0.add(bytes) } }

    func holds(_ asset: Asset) -> Bool {
        self.length.withLock { $0 == asset.size }
            && self.hash.withLock { $0.value == asset.sha256 }
    }

    func remove() { unlink(self.path) }
}

extension LoadFailure {
    /// Makes calls on a file of a measurement.
    fileprivate static func onFile<Value>(
        _ path: String,
        _ calls: () throws(FileError) -> Value
    ) throws -> Value {
        do throws(FileError) {
            return try calls()
        } catch {
            throw LoadFailure(.cannotCreate, "\(path) cannot be used: \(error.reason)")
        }
    }
}
