import Administration
import FileIO
import Foundation
import StorageContract
import SystemCrypto

/// The folder of a backup that is continued every few minutes: bases, increments after each, and
/// the assets of all of them.
///
/// ```text
/// DIR/                         0700
///     lock                     locked by the process that continues it
///     chain.json               the newest state: see ChainTip
///     assets/2a/2a61…          each named by its SHA-256
///     base-20261126T083000.123Z/
///         base.json            written last, before the folder gets its name: see BaseManifest
///         tidemark.sqlite      marked: no engine opens it
///         assets.txt           the hashes of the base's assets, a line for each
///         000001.pages         what has changed since the base: see the engine
///         000001.json          written when all else is on the disk: see IncrementManifest
///         000002.pages
///         …
/// ```
///
/// Each manifest has the hash of the one before it, and `chain.json` that of the last. So a file
/// that is missing or changed is found, whichever it is.
struct BackupChain: Hashable {
    static let basePrefix = "base-"
    static let unfinishedSuffix = ".unfinished"

    /// Absolute.
    let path: String

    init(path: String) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    }

    var tipPath: String { self.path + "/chain.json" }
    var lockPath: String { self.path + "/lock" }
    var assets: ChainAssets { ChainAssets(path: self.path + "/assets") }

    /// Whether the folder has a chain, or what is left of one.
    var isThere: Bool {
        FileManager.default.fileExists(atPath: self.tipPath) || !self.bases().isEmpty
    }

    /// The folders of bases, from the oldest on.
    func bases() -> [ChainBase] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.path)) ?? []
        return names.compactMap { ChainBase(name: $0, in: self.path) }.sorted { $0.time < $1.time }
    }

    /// `nil` if the file is missing or damaged.
    func tip() -> ChainTip? {
        FileManager.default.contents(atPath: self.tipPath)
            .flatMap { try? JSONDecoder().decode(ChainTip.self, from: $0) }
    }

    /// Refuses a chain that other users may have changed.
    ///
    /// - Throws: `configuration`.
    func refuseIfShared() throws(CommandFailure) {
        let bases = self.bases().flatMap { [$0.path, $0.manifestPath, $0.storePath] }
        try BackupFolder.refuse(sharedAmong: [self.path, self.tipPath] + bases)
    }
}

/// The folder of a base and its increments.
struct ChainBase: Hashable {
    let name: String
    /// The time of the base's state; the name has it.
    let time: Moment
    let path: String

    init(at time: Moment, in chain: String) {
        self.name = BackupChain.basePrefix + time.fileName
        self.time = time
        self.path = chain + "/" + self.name
    }

    init?(name: String, in chain: String) {
        let pattern = /base-([0-9]{4})([0-9]{2})([0-9]{2}T[0-9]{2})([0-9]{2})([0-9]{2}\.[0-9]{3}Z)/
        guard let match = name.wholeMatch(of: pattern),
            let time = Moment(text: "\(match.1)-\(match.2)-\(match.3):\(match.4):\(match.5)")
        else { return nil }
        self.name = name
        self.time = time
        self.path = chain + "/" + name
    }

    var manifestPath: String { self.path + "/base.json" }
    var storePath: String { EngineOpening.files.path(in: self.path) }
    var assetsPath: String { self.path + "/assets.txt" }

    func manifestPath(_ number: Int) -> String { self.path + "/" + Self.stem(number) + ".json" }
    func pagesPath(_ number: Int) -> String { self.path + "/" + Self.stem(number) + ".pages" }

    /// The number of the last increment that has a manifest; 0 if there is none.
    var lastNumber: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: self.path)) ?? []
        return names.compactMap { $0.wholeMatch(of: /([0-9]{6,})\.json/).flatMap { Int($0.1) } }.max() ?? 0
    }

    private static func stem(_ number: Int) -> String { String(String(number + 1_000_000).dropFirst()) }
}

/// The newest state of a chain, replaced after each increment.
struct ChainTip: Codable, Hashable {
    var format = BaseManifest.currentFormat
    /// The name of its folder.
    var base: String
    /// The number of the last increment; 0 if there is none.
    var number: Int
    /// The hash of the manifest of the last increment, or else of the base.
    var sha256: String
    /// The state has every change that was acknowledged before.
    var checked: Moment
}

/// A copy of the whole store, on which increments build.
struct BaseManifest: Codable, Hashable {
    static let currentFormat = 1

    var format = Self.currentFormat
    /// All that is in the base was written before.
    var time: Moment
    /// All that was acknowledged before is in the base.
    var begun: Moment
    /// The version of the server's program that made it.
    var server: String
    /// In the words of the engine.
    var position: String
    /// Size and hash of the database.
    var bytes: Int64
    var sha256: String
    var assets: Int
    var assetBytes: Int64
    /// Of `assets.txt`.
    var assetsSHA256: String
    /// Certificates and keys.
    var tls: [String: Data]
    /// The newest state before it.
    var follows: ChainTip?
}

/// Changes since the base or the increment before.
struct IncrementManifest: Codable, Hashable {
    var format = BaseManifest.currentFormat
    /// From 1.
    var number: Int
    /// As those of a base.
    var time: Moment
    var begun: Moment
    var position: String
    /// Size and hash of the pages.
    var bytes: Int64
    var sha256: String
    /// The hash of the manifest before.
    var previous: String
    /// Hashes of assets that are new to the chain since the base or the increment before.
    var assets: [String]
    var assetBytes: Int64
    /// Certificates and keys, if they have changed.
    var tls: [String: Data]?
}

extension Hexadecimal {
    static func sha256(of data: Data) -> String {
        var hash = SHA256()
        // SAFETY: the bytes are used in the call only.
        data.withUnsafeBytes { hash.add($0) }
        return self.text(of: hash.value)
    }
}
