import Administration
import AssetStorage
import FileIO
import Foundation
import RecordModel
import StorageContract

/// Adds bases and increments to a chain.
///
/// A manifest is written when all that it names is on the disk. So a crash leaves files that no
/// manifest names, and the next process removes them. After an error the writer is not used again.
struct ChainWriter {
    /// The addition.
    struct Added {
        /// 0 for a base.
        var number: Int
        var time: Moment
        var begun: Moment
        var bytes: Int64
        var assets: Int
        /// Assets that are missing or damaged in the data folder.
        var damaged: [AssetReport.Damaged]
    }

    enum Increment {
        case added(Added)
        case unchanged
        /// The changes are not known: a base is needed.
        case lost
    }

    private static let pageMax = 1_000
    static let draft = "base" + BackupChain.unfinishedSuffix

    let chain: BackupChain
    private let source: DataFolder
    private let store: any FollowedStore
    private(set) var tip: ChainTip?
    private var base: ChainBase?
    /// Assets that the chain has since the base.
    private var known: Set<AssetNumber> = []
    private var tls: [String: Data] = [:]

    /// - Throws: `CommandFailure`, `StoreCopyError`.
    init(_ chain: BackupChain, of source: DataFolder) throws {
        self.chain = chain
        self.source = source
        do throws(StoreCopyError) {
            self.store = try EngineOpening.following.follow(source.path, clock: SystemTime.milliseconds)
        } catch {
            throw CopyAdvice.failure(error, in: source.path)
        }
    }

    /// Whether the data folder still has the store that is followed.
    var isCurrent: Bool { self.store.isCurrent }

    var newestBase: Moment? { self.base?.time }

    func release() throws(StoreCopyError) { try self.store.release() }

    func close() { self.store.close() }

    // MARK: Resuming

    /// Goes on where the chain ends.
    ///
    /// - Returns: `false` if a base is needed.
    mutating func resume() throws -> Bool {
        guard let base = self.chain.bases().last,
            let state = try self.chain.reading(base).read(until: nil).whole
        else { return false }
        guard let ofBase = base.listedAssets(state.manifest) else { return false }
        let position = state.increments.last?.position ?? state.manifest.position
        guard try self.store.resume(after: StorePosition(rawValue: position)) else { return false }
        let number = state.increments.count
        let path = number == 0 ? base.manifestPath : base.manifestPath(number)
        let listed = Set(ofBase + state.increments.flatMap(\.assets))
        try Self.forEachAsset(of: self.store) { stored in
            guard listed.contains(Hexadecimal.text(of: stored.asset.sha256)) else { return }
            self.known.insert(stored.number)
        }
        self.tls = state.tls
        self.base = base
        self.tip = ChainTip(
            base: base.name,
            number: number,
            sha256: Hexadecimal.sha256(of: try Data(contentsOf: URL(fileURLWithPath: path))),
            checked: state.increments.last?.begun ?? state.manifest.begun
        )
        return true
    }

    // MARK: Bases

    /// Copies everything, into a folder that gets its name at the end.
    mutating func addBase(_ bar: inout ProgressBar) throws -> Added {
        let path = self.chain.path + "/" + Self.draft
        try? FileManager.default.removeItem(atPath: path)
        do {
            return try self.fill(CopyFolder(making: path), &bar)
        } catch {
            // It would take the room that the next try needs.
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    private mutating func fill(_ folder: CopyFolder, _ bar: inout ProgressBar) throws -> Added {
        let size = try EngineOpening.files.source(in: self.source.path).size().database
        try folder.checkRoom(for: size)
        bar.totalBytes = size
        let begun = Moment.now
        let draft = folder.path + "/" + EngineOpening.files.name
        var shown = bar
        let moment = try self.store.copyAll(to: draft) { shown.add($0) }
        self.known = []
        let list = try OpenFile(path: folder.path + "/assets.txt", .replace)
        let assets = try self.addAssets(&shown) { line, offset in
            // SAFETY: the bytes are used in the call only.
            try Data(line.utf8).withUnsafeBytes { try list.write($0, at: offset) }
        }
        bar = shown
        self.tls = try self.readTLS()
        try folder.syncAll()
        let look = try FileCopy.look(at: draft)
        let manifest = BaseManifest(
            time: Moment(milliseconds: moment.milliseconds),
            begun: begun,
            server: Tidemark.version,
            position: moment.position.rawValue,
            bytes: look.bytes,
            sha256: Hexadecimal.text(of: look.sha256),
            assets: assets.added,
            assetBytes: assets.bytes,
            assetsSHA256: Hexadecimal.text(of: try FileCopy.look(at: folder.path + "/assets.txt").sha256),
            tls: self.tls,
            follows: self.tip ?? self.chain.tip()
        )
        let base = ChainBase(at: manifest.time, in: self.chain.path)
        let text = try JSONText.of(manifest)
        try folder.write(text, as: "base.json")
        try CopyFolder(making: self.chain.path).rename(Self.draft, to: base.name)
        self.base = base
        try self.become(ChainTip(base: base.name, number: 0, sha256: Self.hash(text), checked: begun))
        return Added(
            number: 0,
            time: manifest.time,
            begun: begun,
            bytes: manifest.bytes,
            assets: assets.added,
            damaged: assets.damaged
        )
    }

    // MARK: Increments

    mutating func addIncrement() throws -> Increment {
        guard let base = self.base, let tip = self.tip else { return .lost }
        let number = tip.number + 1
        let begun = Moment.now
        let pages = base.pagesPath(number)
        let draft = pages + BackupChain.unfinishedSuffix
        switch try self.store.copyChanges(to: draft) {
        case .lost: return .lost
        case .unchanged:
            var tip = tip
            tip.checked = begun
            try self.become(tip)
            return .unchanged
        case .copied(let moment):
            return .added(try self.addIncrement(number, to: base, begun, moment, draft: draft))
        }
    }

    private mutating func addIncrement(
        _ number: Int,
        to base: ChainBase,
        _ begun: Moment,
        _ moment: StoreMoment,
        draft: String
    ) throws -> Added {
        var hashes: [String] = []
        var bar = ProgressBar()
        let assets = try self.addAssets(&bar) { line, _ in hashes.append(String(line.dropLast())) }
        if !hashes.isEmpty { try FileCopy.syncDisk(of: self.chain.path) }
        let look = try FileCopy.look(at: draft)
        let folder = try CopyFolder(making: base.path)
        let tls = try self.readTLS()
        let manifest = IncrementManifest(
            number: number,
            time: Moment(milliseconds: moment.milliseconds),
            begun: begun,
            position: moment.position.rawValue,
            bytes: look.bytes,
            sha256: Hexadecimal.text(of: look.sha256),
            previous: self.tip?.sha256 ?? "",
            assets: hashes,
            assetBytes: assets.bytes,
            tls: tls == self.tls ? nil : tls
        )
        self.tls = tls
        let pages = String(base.pagesPath(number).dropFirst(base.path.count + 1))
        try folder.rename(pages + BackupChain.unfinishedSuffix, to: pages)
        let text = try JSONText.of(manifest)
        try self.write(text, to: base.manifestPath(number))
        try self.become(
            ChainTip(base: base.name, number: number, sha256: Self.hash(text), checked: begun)
        )
        return Added(
            number: number,
            time: manifest.time,
            begun: begun,
            bytes: look.bytes,
            assets: hashes.count,
            damaged: assets.damaged
        )
    }

    // MARK: Assets and keys

    /// Adds the files of assets that are new since the base, and passes their hashes as lines.
    private mutating func addAssets(
        _ bar: inout ProgressBar,
        list: (String, Int64) throws -> Void
    ) throws -> (added: Int, bytes: Int64, damaged: [AssetReport.Damaged]) {
        let files = AssetFiles(in: self.source.assetsPath)
        var (added, bytes, offset): (Int, Int64, Int64) = (0, 0, 0)
        var damaged: [AssetReport.Damaged] = []
        var shown = bar
        try Self.forEachAsset(of: self.store) { stored in
            guard self.known.insert(stored.number).inserted else { return }
            let condition = try self.chain.assets.add(stored, from: files) { shown.add($0) }
            guard condition == .intact else {
                // The server may have removed it meanwhile.
                if try self.store.has(stored.number) {
                    damaged.append(AssetReport.Damaged(stored, condition, in: files))
                }
                return
            }
            let line = Hexadecimal.text(of: stored.asset.sha256) + "\n"
            try list(line, offset)
            offset += Int64(line.utf8.count)
            added += 1
            bytes += stored.asset.size
        }
        bar = shown
        return (added, bytes, damaged)
    }

    private static func forEachAsset(
        of store: any FollowedStore,
        _ body: (StoredAsset) throws -> Void
    ) throws {
        var last: AssetNumber?
        while true {
            let page = try store.assets(after: last, limit: Self.pageMax)
            for stored in page { try body(stored) }
            guard page.count == Self.pageMax else { return }
            last = page.last?.number
        }
    }

    private func readTLS() throws -> [String: Data] {
        var texts: [String: Data] = [:]
        for name in try self.source.namesInTLS() {
            texts[name] = try Data(contentsOf: URL(fileURLWithPath: self.source.path + "/tls/" + name))
        }
        return texts
    }

    // MARK: Files

    private mutating func become(_ tip: ChainTip) throws {
        try self.write(JSONText.of(tip), to: self.chain.tipPath)
        self.tip = tip
    }

    /// Replaces a small file, durable with its name.
    private func write(_ text: String, to path: String) throws {
        let name = (path as NSString).lastPathComponent
        let folder = try CopyFolder(making: (path as NSString).deletingLastPathComponent)
        try folder.remove(name + BackupChain.unfinishedSuffix)
        try folder.write(text, as: name + BackupChain.unfinishedSuffix)
        try folder.rename(name + BackupChain.unfinishedSuffix, to: name)
    }

    private static func hash(_ text: String) -> String { Hexadecimal.sha256(of: Data(text.utf8)) }
}

extension ChainReading.Outcome {
    /// The state, if nothing was wrong.
    fileprivate var whole: ChainState? { self.damage == nil ? self.state : nil }
}
