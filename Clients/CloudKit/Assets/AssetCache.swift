internal import Foundation
internal import RecordClient
internal import RecordModel
private import Synchronization

/// Files of fetched assets, by their hashes.
///
///     FOLDER/assets/HASH             a complete file, read-only; what `fileURL` names
///     FOLDER/partial/HASH            the rest of an interrupted download; locked while in use
///     FOLDER/leases/PROCESS/HASH     a second name of a file that an asset of a process names
///     FOLDER/leases/PROCESS.lock     locked for as long as the process lives
///     FOLDER/lock                    shared to hand a file over, exclusive to remove files
///
/// The cache trusts no file: it hashes each before use. Its methods block, so they run on threads
/// for files.
final class AssetCache: Sendable {
    /// How long a file stays after its last use: published code reads a file after it has released
    /// the asset.
    static let graceSeconds: Int = 600

    private static let caches = Mutex<[String: AssetCache]>([:])

    let folder: String
    let bytesMax: Int64
    private struct Leases {
        /// How many assets of this process name a file, by hash.
        var counts: [String: Int] = [:]
        /// Made when the first file is kept.
        var holder: LeaseHolder?
    }

    private let leases = Mutex(Leases())

    private init(folder: String, bytesMax: Int64) {
        self.folder = folder
        self.bytesMax = bytesMax
    }

    /// Returns the process's only cache of a folder; the first bound that is given for it applies.
    static func at(_ folder: String, bytesMax: Int64) -> AssetCache {
        self.caches.withLock { caches in
            if let cache = caches[folder] { return cache }
            let cache = AssetCache(folder: folder, bytesMax: bytesMax)
            caches[folder] = cache
            return cache
        }
    }

    /// Where this process keeps files by default.
    static let processFolder = AssetCache.defaultFolder(
        variables: ProcessInfo.processInfo.environment,
        program: CommandLine.arguments.first ?? ""
    )

    /// Returns the default folder for files; of the path of the program, only the last part counts.
    static func defaultFolder(variables: [String: String], program: String) -> String {
        if let folder = variables[CKServerConnection.Variable.cache], !folder.isEmpty { return folder }
        let name = program.split(separator: "/").last.map { "/\($0)" } ?? ""
        return UserFolder.cache.path(variables: variables) + "/tidemark" + name
    }

    /// Returns the file of an asset; `nil` if it is absent, or if its bytes were wrong and it was
    /// removed.
    func find(_ asset: Asset) async throws(CKError) -> CachedAsset? {
        let name = asset.name
        let path = self.path(of: name)
        guard let file = try? AssetFile(URL(fileURLWithPath: path)), file.size == asset.size else {
            return nil
        }
        guard try await file.contents() == asset else {
            unlink(path)
            return nil
        }
        return self.handOver(name, path)
    }

    /// Opens the unfinished file of an asset.
    ///
    /// If another download has it open, this returns a second file, which no later download
    /// continues.
    func partial(of asset: Asset) throws(FileFailure) -> PartialAsset {
        try self.makeFolders()
        let path = self.folder + "/partial/" + asset.name
        if let partial = try PartialAsset(asset, path: path) { return partial }
        let own = "\(path).\(UInt64.random(in: .min ... .max))"
        guard let partial = try PartialAsset(asset, path: own) else { throw PartialAsset.failed(own) }
        return partial
    }

    /// Adds a complete file to the cache.
    func takeIn(_ partial: PartialAsset) throws(FileFailure) -> CachedAsset {
        let name = partial.asset.name
        let path = self.path(of: name)
        try partial.complete(at: path)
        guard let file = self.handOver(name, path) else { throw PartialAsset.failed(path) }
        self.sweep(now: time(nil))
        return file
    }

    private func makeFolders() throws(FileFailure) {
        for part in ["assets", "partial", "leases"] {
            let path = self.folder + "/" + part
            do {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            } catch {
                throw .failed("The cache of assets can't be created at '\(path)': \(error)")
            }
        }
        chmod(self.folder, 0o700)
    }

    private func path(of name: String) -> String { self.folder + "/assets/" + name }

    // MARK: Leases

    /// Notes that an asset names a file; `nil` if the file is gone.
    private func handOver(_ name: String, _ path: String) -> CachedAsset? {
        let lock = FolderLock(self.folder + "/lock", isExclusive: false, waits: true)
        defer { withExtendedLifetime(lock) {} }
        // The time of the last use.
        guard utimensat(AT_FDCWD, path, nil, 0) == 0 else { return nil }
        self.leases.withLock { leases in
            leases.counts[name, default: 0] += 1
            let holder = leases.holder ?? LeaseHolder(folder: self.folder + "/leases")
            leases.holder = holder
            holder.hold(name, path)
        }
        return CachedAsset(
            url: URL(fileURLWithPath: path),
            lease: AssetLease { [weak self] in self?.letGo(name) }
        )
    }

    private func letGo(_ name: String) {
        self.leases.withLock { leases in
            let left = (leases.counts[name] ?? 1) - 1
            leases.counts[name] = left > 0 ? left : nil
            if left <= 0 { leases.holder?.letGo(name) }
        }
    }

    /// Whether an asset of this process names the file.
    func isLeased(_ name: String) -> Bool { self.leases.withLock { $0.counts[name] != nil } }

    /// Removes the leases of processes that have ended.
    func removeDeadLeases() { self.leases.withLock { $0.holder?.removeDead() } }
}

/// A file of the cache.
struct CachedAsset: Sendable {
    var url: URL
    var lease: AssetLease
}

/// Keeps a file of the cache from being removed.
final class AssetLease: Sendable {
    private let letGo: @Sendable () -> Void

    init(letGo: @escaping @Sendable () -> Void) {
        self.letGo = letGo
    }

    deinit { self.letGo() }
}

extension Asset {
    /// The name of its file: 64 characters.
    var name: String { self.sha256.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
