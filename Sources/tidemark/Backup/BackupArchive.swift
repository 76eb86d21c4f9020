import Administration
import AssetStorage
import FileIO
import Foundation
import RecordModel
import StorageContract
import SystemCrypto

/// A backup as an archive on a pipe: the files of a backup folder, and what is known about them
/// before and after.
///
/// ```text
/// stream.json       the bytes to come: see StreamHead
/// assets/           complete files, each hashed while it is sent
/// tidemark.sqlite   marked: no engine opens it
/// tls/
/// backup.json       see BackupManifest
/// SHA256SUMS        a line for each of all files before it, as `sha256sum` has it
/// ```
///
/// The database comes after the assets, because assets without a file are removed from it. The sums
/// gather in a file of the scratch folder, because the size of an entry comes before its bytes.
///
/// One thread uses it.
final class BackupArchive {
    static let headName = "stream.json"
    static let manifestName = "backup.json"
    static let sumsName = "SHA256SUMS"

    /// Bytes that were written to the pipe did not arrive.
    struct Broken: Error {
        let error: FileError
    }

    private var tar: TarWriter
    private var sums: StreamSums
    private let modified: Int64
    /// Paths that are no part of the backup: damaged files, and files that the server has removed
    /// meanwhile.
    private(set) var unused: [String] = []

    init(descriptor: Int32, scratch: ScratchFolder, modified: Date) throws {
        self.tar = TarWriter(descriptor: descriptor)
        self.sums = try StreamSums(path: scratch.path + "/" + Self.sumsName)
        self.modified = Int64(modified.timeIntervalSince1970)
    }

    /// Adds a small file.
    func add(_ text: String, as path: String) throws {
        try self.begin(path, bytes: Int64(text.utf8.count))
        var hash = SHA256()
        // SAFETY: the bytes are used in the call only.
        try Data(text.utf8).withUnsafeBytes { bytes in
            hash.add(bytes)
            try self.write { () throws(FileError) in try self.tar.write(bytes) }
        }
        try self.sums.add(hash.value, path)
    }

    /// Adds a file that no process changes meanwhile.
    ///
    /// - Returns: Its size and its hash.
    func add(fileAt source: String, as path: String, progress: (Int) -> Void) throws -> FileCopy.Outcome {
        let file = try OpenFile(path: source, .read)
        let bytes = try file.size()
        var hash = SHA256()
        try self.begin(path, bytes: bytes)
        let sent = try self.send(file, bytes, &hash, progress)
        guard sent == bytes else { throw FileError(errno: ENOENT) }
        let outcome = FileCopy.Outcome(bytes: bytes, sha256: hash.value)
        try self.sums.add(outcome.sha256, path)
        return outcome
    }

    /// Adds the file of a complete asset.
    ///
    /// A file that turns out to be damaged is in the archive, with zeros in place of the missing bytes,
    /// and is no part of the backup.
    func add(
        _ stored: StoredAsset,
        from files: AssetFiles,
        progress: (Int) -> Void
    ) throws -> AssetCondition {
        let file: OpenFile
        do throws(FileError) {
            file = try OpenFile(path: files.path(of: stored.number), .read)
            let bytes = try file.size()
            guard bytes == stored.asset.size else { return .wrongSize(bytes) }
        } catch {
            return error.isMissing ? .missing : .unreadable(code: error.errno)
        }
        let path = "assets/" + files.name(of: stored.number)
        try self.begin(path, bytes: stored.asset.size)
        var hash = SHA256()
        var condition = AssetCondition.intact
        do {
            let sent = try self.send(file, stored.asset.size, &hash, progress)
            if sent != stored.asset.size { condition = .wrongSize(sent) }
        } catch FileCopy.Failure.source(let error) {
            condition = .unreadable(code: error.errno)
        }
        try self.write { () throws(FileError) in try self.tar.fill(hashing: &hash) }
        if condition == .intact, hash.value != stored.asset.sha256 { condition = .differs }
        if condition != .intact { self.unused.append(path) }
        try self.sums.add(hash.value, path)
        return condition
    }

    /// Names an asset that was sent, and that the backup no longer needs.
    func leaveOut(_ number: AssetNumber, of files: AssetFiles) {
        self.unused.append("assets/" + files.name(of: number))
    }

    /// Adds the sums, and the end.
    func finish() throws {
        try self.sums.flush()
        let file = try OpenFile(path: self.sums.path, .read)
        let bytes = try file.size()
        try self.begin(Self.sumsName, bytes: bytes)
        var hash = SHA256()
        guard try self.send(file, bytes, &hash, { _ in }) == bytes else { throw FileError(errno: ENOENT) }
        try self.write { () throws(FileError) in try self.tar.finish() }
    }

    private func begin(_ path: String, bytes: Int64) throws {
        let entry = TarEntry(path: path, bytes: bytes, modified: self.modified)
        try self.write { () throws(FileError) in try self.tar.begin(entry) }
    }

    /// Sends a file, and returns how many of its bytes there were.
    private func send(
        _ file: OpenFile,
        _ bytes: Int64,
        _ hash: inout SHA256,
        _ progress: (Int) -> Void
    ) throws -> Int64 {
        do {
            return try FileCopy.pass(file, max: bytes) { (piece) throws(FileError) in
                hash.add(piece)
                try self.tar.write(piece)
                progress(piece.count)
            }
        } catch FileCopy.Failure.target(let error) {
            throw Broken(error: error)
        }
    }

    private func write(_ write: () throws(FileError) -> Void) throws {
        do throws(FileError) { try write() } catch { throw Broken(error: error) }
    }
}

/// The first file of a stream.
struct StreamHead: Codable, Hashable {
    static let currentFormat = 1

    var format = Self.currentFormat
    /// When the backup began, in ISO 8601.
    var date: String
    /// The version of the server that made it.
    var server: String
    /// Size of all files to come, as far as known.
    var bytes: Int64
}
