import Administration
import ArgumentParser
import AssetStorage
import AssetStore
import Foundation
import RecordStore
import StorageContract

/// A part of a data folder that a backup has.
enum BackupPart: String, CaseIterable, ExpressibleByArgument {
    case database
    case assets
    /// `tls/` without its keys.
    case certificates
    /// The keys in `tls/`.
    case keys
}

/// A restore of one part into a folder that has the others.
///
/// What is in its place is moved to a folder `replaced-TIME` beside it, and put back after an error. The
/// database keeps the mark of a backup until all else is on the disk, so that no server serves a part of
/// it.
struct PartRestore {
    struct Outcome {
        /// Files that were put in place.
        var files = 0
        /// Assets that records name, and that neither the folder nor the backup has.
        var damaged: [AssetReport.Damaged] = []
        /// Where the earlier files are; `nil` if there were none.
        var replaced: String?
    }

    let part: BackupPart
    let target: DataFolder
    private(set) var source: any PartSource
    private let replaced: ReplacedFiles
    private var bar = ProgressBar()
    private var outcome = Outcome()
    /// Whether the database in the folder is the backup's, in whole or in part.
    private var isCopying = false

    /// - Throws: `CommandFailure`, before anything is changed.
    init(_ part: BackupPart, of source: any PartSource, to target: DataFolder) throws {
        guard FileManager.default.fileExists(atPath: target.path) else {
            throw CommandFailure(
                .noStore,
                "\(target.path) is missing, with all its parts. Restore it as a whole: leave --part out."
            )
        }
        try target.refuseUnlessServable()
        try target.refuseUnlessFile()
        self.part = part
        self.source = source
        self.target = target
        self.replaced = ReplacedFiles(in: target)
    }

    mutating func run() async throws -> Outcome {
        let lock = try DataFolderLock(folder: self.target)
        defer { withExtendedLifetime(lock) {} }
        defer { self.bar.clear() }
        self.bar.totalBytes = self.source.bytes
        do {
            switch self.part {
            case .database: try self.putDatabase()
            case .assets: try await self.putAssets()
            case .certificates: try self.putTLS { !$0.hasSuffix("-key.pem") }
            case .keys: try self.putTLS { $0.hasSuffix("-key.pem") }
            }
        } catch {
            if self.isCopying { unlink(EngineOpening.files.path(in: self.target.path)) }
            self.replaced.putBack()
            throw CopyAdvice.failure(error, in: self.target.path)
        }
        self.outcome.replaced = self.replaced.isUsed ? self.replaced.path : nil
        return self.outcome
    }

    // MARK: Database

    private mutating func putDatabase() throws {
        let folder = try CopyFolder(making: self.target.path)
        for name in EngineOpening.files.names where name.hasPrefix(EngineOpening.files.name) {
            try self.replaced.take(name)
        }
        self.isCopying = true
        let store = try self.source.copyDatabase(to: self.target, &self.bar)
        self.outcome.files = 1
        let files = AssetFiles(in: self.target.assetsPath)
        try files.makeFolder()
        var named: Set<AssetNumber> = []
        var last: AssetNumber?
        while true {
            let page = try store.assets(after: last, limit: 1_000)
            for stored in page {
                named.insert(stored.number)
                let condition = try self.put(stored, in: files)
                if condition != .intact, try !store.forgetUnnamed(stored.number) {
                    self.outcome.damaged.append(AssetReport.Damaged(stored, condition, in: files))
                }
            }
            guard page.count == 1_000 else { break }
            last = page.last?.number
        }
        try self.removeFiles(notIn: named, files)
        try folder.syncAll()
        try store.beginNewLife(nowMilliseconds: SystemTime.milliseconds())
        try store.close()
    }

    /// A later asset of the life that has ended would have the number of another one.
    private func removeFiles(notIn named: Set<AssetNumber>, _ files: AssetFiles) throws {
        let paths = FileManager.default.subpaths(atPath: self.target.assetsPath) ?? []
        for path in paths where path.contains("/") {
            let path = "assets/" + path
            if let number = files.number(ofPath: path), named.contains(number) { continue }
            try self.replaced.take(path)
        }
    }

    // MARK: Assets

    private mutating func putAssets() async throws {
        guard self.target.hasStore else { throw self.target.hasNoStore }
        let files = AssetFiles(in: self.target.assetsPath)
        try files.makeFolder()
        let stored = try await AdministeredStore.open(self.target) { store in
            var all: [StoredAsset] = []
            while true {
                let page = try store.assets.stored(after: all.last?.number, limit: 1_000)
                all += page
                guard page.count == 1_000 else { return all }
            }
        }
        for asset in stored {
            let condition = try self.put(asset, in: files)
            guard condition != .intact else { continue }
            self.outcome.damaged.append(AssetReport.Damaged(asset, condition, in: files))
        }
        AssetsPresence(folder: self.target).forgetLoss()
        try CopyFolder(making: self.target.path).syncAll()
    }

    /// Takes the file from the backup, unless the right one is there.
    ///
    /// - Returns: The condition of the backup's file.
    private mutating func put(_ stored: StoredAsset, in files: AssetFiles) throws -> AssetCondition {
        var file = files.verification(of: stored)
        while file.condition == nil { _ = file.read(bytesMax: 1_048_576) }
        guard let condition = file.condition, condition != .intact else { return .intact }
        if condition != .missing { try self.replaced.take("assets/" + files.name(of: stored.number)) }
        let found = try self.source.copy(stored, to: files, &self.bar)
        if found == .intact { self.outcome.files += 1 }
        return found
    }

    // MARK: Certificates and keys

    private mutating func putTLS(where isWanted: (String) -> Bool) throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.target.path + "/tls")) ?? []
        for name in names where isWanted("tls/" + name) { try self.replaced.take("tls/" + name) }
        self.outcome.files = try self.source.copyTLS(to: self.target, where: isWanted)
        guard self.outcome.files > 0 else {
            throw CommandFailure(
                .data,
                "the backup has no \(self.part.rawValue): its server had its own elsewhere (tls_cert, tls_key)."
            )
        }
        try CopyFolder(making: self.target.path).syncAll()
    }
}

/// Files of a data folder that others take the place of.
private final class ReplacedFiles {
    private let folder: DataFolder
    private let name: String
    /// Relative to both folders.
    private var taken: [String] = []

    init(in folder: DataFolder) {
        self.folder = folder
        self.name = "replaced-" + Moment.now.fileName
    }

    var path: String { self.folder.path + "/" + self.name }
    var isUsed: Bool { !self.taken.isEmpty }

    /// Moves a file, if it is there.
    func take(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: self.folder.path + "/" + path) else { return }
        let target = self.path + "/" + path
        try FileManager.default.createDirectory(
            atPath: (target as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try self.move(self.folder.path + "/" + path, to: target)
        self.taken.append(path)
    }

    private func move(_ path: String, to target: String) throws {
        guard rename(path, target) == 0 else { throw CopyFailure(path: path, errno: errno) }
    }

    /// Puts all back, as far as possible, in place of what was made meanwhile.
    func putBack() {
        for path in self.taken { try? self.move(self.path + "/" + path, to: self.folder.path + "/" + path) }
        if self.isUsed { try? FileManager.default.removeItem(atPath: self.path) }
    }
}
