import Administration
import FileIO
import Foundation

/// A state of a store that a chain can bring back: a base, and the increments up to it.
struct ChainState {
    let base: ChainBase
    let manifest: BaseManifest
    var increments: [IncrementManifest] = []

    var time: Moment { self.increments.last?.time ?? self.manifest.time }

    /// Certificates and keys of the state.
    var tls: [String: Data] {
        self.increments.last { $0.tls != nil }?.tls ?? self.manifest.tls
    }

    /// Of everything that a restore copies, as far as known.
    var bytes: Int64 {
        self.manifest.bytes + self.manifest.assetBytes
            + self.increments.reduce(0) { $0 + $1.bytes + $1.assetBytes }
    }
}

/// Reads a base and its increments in order, and compares each with its hash.
struct ChainReading {
    /// The part that was read until something was wrong, or until the end.
    struct Outcome {
        /// `nil` if the base cannot be used.
        var state: ChainState?
        /// The first file that is missing or damaged, and what is wrong with it.
        var damage: String?
    }

    let chain: BackupChain
    let base: ChainBase
    /// The newest state that is known to have been in the folder of the base.
    let expected: ChainTip?

    /// Reads increments with a state that is not after a time; without a time, all of them.
    ///
    /// The database of the base is not read: a restore does that when it copies it.
    func read(until time: Moment?) throws -> Outcome {
        guard let json = FileManager.default.contents(atPath: self.base.manifestPath) else {
            return Outcome(damage: "\(self.base.manifestPath) is missing")
        }
        guard let manifest: BaseManifest = try Self.decode(json, self.base.manifestPath),
            manifest.time == self.base.time
        else { return Outcome(damage: "\(self.base.manifestPath) is damaged") }
        var state = ChainState(base: self.base, manifest: manifest)
        var hash = Hexadecimal.sha256(of: json)
        if let damage = self.damage(hash, of: 0) { return Outcome(damage: damage) }
        let last = max(self.base.lastNumber, self.expected?.number ?? 0)
        for number in 1..<(last + 1) {
            let path = self.base.manifestPath(number)
            guard let json = FileManager.default.contents(atPath: path) else {
                return Outcome(state: state, damage: "\(path) is missing")
            }
            guard let increment: IncrementManifest = try Self.decode(json, path),
                increment.number == number, increment.previous == hash, increment.time >= state.time
            else { return Outcome(state: state, damage: "\(path) is damaged") }
            hash = Hexadecimal.sha256(of: json)
            if let damage = self.damage(hash, of: number) { return Outcome(state: state, damage: damage) }
            if let time, increment.time > time { return Outcome(state: state) }
            if let damage = try Self.damage(of: increment, at: self.base.pagesPath(number)) {
                return Outcome(state: state, damage: damage)
            }
            state.increments.append(increment)
        }
        return Outcome(state: state)
    }

    private func damage(_ hash: String, of number: Int) -> String? {
        guard let expected, expected.number == number, expected.sha256 != hash else { return nil }
        return (number == 0 ? self.base.manifestPath : self.base.manifestPath(number)) + " is damaged"
    }

    private static func damage(of increment: IncrementManifest, at path: String) throws -> String? {
        do throws(FileCopy.Failure) {
            let look = try FileCopy.look(at: path)
            guard look.bytes == increment.bytes, Hexadecimal.text(of: look.sha256) == increment.sha256 else {
                return "\(path) is damaged"
            }
            return nil
        } catch {
            guard case .source(let error) = error, error.isMissing else { throw error }
            return "\(path) is missing"
        }
    }

    private struct Version: Decodable {
        var format: Int
    }

    /// `nil` if the text is damaged.
    private static func decode<Manifest: Decodable>(_ json: Data, _ path: String) throws -> Manifest? {
        guard let version = try? JSONDecoder().decode(Version.self, from: json) else { return nil }
        guard version.format <= BaseManifest.currentFormat else {
            throw CommandFailure(
                .data,
                "\(path) cannot be read by this version. Use the one that made the backup, or a newer one."
            )
        }
        return try? JSONDecoder().decode(Manifest.self, from: json)
    }
}

extension ChainBase {
    /// The hashes of the base's assets; `nil` if their list is missing or damaged.
    func listedAssets(_ manifest: BaseManifest) -> [String]? {
        guard let list = FileManager.default.contents(atPath: self.assetsPath),
            Hexadecimal.sha256(of: list) == manifest.assetsSHA256
        else { return nil }
        return String(decoding: list, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

extension BackupChain {
    /// The reading of a base of this chain.
    ///
    /// The newest state, or the base after it, tells which files its folder should have.
    func reading(_ base: ChainBase) -> ChainReading {
        var expected = self.tip()
        if let next = self.bases().first(where: { $0.time > base.time }),
            let json = FileManager.default.contents(atPath: next.manifestPath)
        {
            expected = (try? JSONDecoder().decode(BaseManifest.self, from: json))?.follows
        }
        return ChainReading(
            chain: self,
            base: base,
            expected: expected?.base == base.name ? expected : nil
        )
    }
}
