internal import Foundation
internal import RecordClient
internal import RecordModel
private import Synchronization

/// Files of assets that were fetched, by their hashes.
///
///     FOLDER/assets/HASH                  a complete file, read-only; what `fileURL` names
///     FOLDER/partial/HASH                 what an interrupted download has left; locked while somebody is at it
///     FOLDER/leases/PROCESS/HASH          a second name of a file that an asset of a living process names
///     FOLDER/leases/PROCESS.lock          locked for as long as the process lives
///     FOLDER/lock                         shared while a file is handed over, exclusive while files are removed
///
/// Nothing in it is trusted: a file is hashed before it is used. Its methods block: they are for threads for files.
final class AssetCache: Sendable {
    /// Files are removed no sooner: published code reads a file after it has let go of the asset.
    static let graceSeconds: Int = 600

    private static let caches = Mutex<[String: AssetCache]>([:])

    let folder: String
    let bytesMax: Int64
    private struct Leases {
        /// How often an asset of this process names a file, by hash.
        var counts: [String: Int] = [:]
        /// Made when there is a file to keep.
        var holder: LeaseHolder?
    }

    private let leases = Mutex(Leases())

    private init(folder: String, bytesMax: Int64) {
        self.folder = folder
        self.bytesMax = bytesMax
    }

    /// The process's one cache of a folder; the first bound that is named for it holds.
    static func at(_ folder: String, bytesMax: Int64) -> AssetCache {
        self.caches.withLock { caches in
            if let cache = caches[folder] { return cache }
            let cache = AssetCache(folder: folder, bytesMax: bytesMax)
            caches[folder] = cache
            return cache
        }
    }

    /// Where this process keeps files unless it is told otherwise.
    static let processFolder = AssetCache.defaultFolder(
        variables: ProcessInfo.processInfo.environment,
        program: CommandLine.arguments.first ?? ""
    )

    /// Where files are kept unless somebody says otherwise; of the path that the program was started by the last part counts.
    static func defaultFolder(variables: [String: String], program: String) -> String {
        if let folder = variables[CKServerConnection.Variable.cache], !folder.isEmpty { return folder }
        let name = program.split(separator: "/").last.map { "/\($0)" } ?? ""
        return UserFolder.cache.path(variables: variables) + "/tidemark" + name
    }

    /// The file of an asset; `nil`: it is not there, or is not what it should be and was removed.
    func find(_ asset: Asset) async throws(CKError) -> CachedAsset? {
        let name = asset.name
        let path = self.place(of: name)
        guard let file = try? AssetFile(URL(fileURLWithPath: path)), file.size == asset.size else {
            return nil
        }
        guard try await file.contents() == asset else {
            unlink(path)
            return nil
        }
        return self.handOver(name, path)
    }

    /// The unfinished file of an asset; when somebody is at it already another one, which nobody goes on with.
    func partial(of asset: Asset) throws(FileFailure) -> PartialAsset {
        try self.makeFolders()
        let path = self.folder + "/partial/" + asset.name
        if let partial = try PartialAsset(asset, path: path) { return partial }
        let own = "\(path).\(UInt64.random(in: .min ... .max))"
        guard let partial = try PartialAsset(asset, path: own) else { throw PartialAsset.failed(own) }
        return partial
    }

    /// Takes in a file that is complete.
    func takeIn(_ partial: PartialAsset) throws(FileFailure) -> CachedAsset {
        let name = partial.asset.name
        let path = self.place(of: name)
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
                throw .failed("The cache of assets can't be made, at '\(path)': \(error)")
            }
        }
        chmod(self.folder, 0o700)
    }

    private func place(of name: String) -> String { self.folder + "/assets/" + name }

    // MARK: Leases

    /// Notes that an asset names a file; `nil` when it is gone.
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

    /// Removes what processes have left that are no more.
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
