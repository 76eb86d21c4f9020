import Administration
import FileIO
import Foundation
import StorageContract

/// A state of a chain, as the source of a restore.
///
/// Increments are compared with their hashes before anything is written, the base while it is
/// copied, and each asset while it is.
struct ChainSource: RestoreSource {
    private let chain: BackupChain
    private let takesWholePart: Bool
    private(set) var state: ChainState

    /// Finds the newest state that is not after a time; the newest of all without one.
    ///
    /// With `takesWholePart` an older state will do, if files are damaged or missing.
    ///
    /// - Throws: `data` if there is no such state, or it needs a file that is damaged or missing;
    ///   `noStore`, `configuration`.
    init(_ chain: BackupChain, at time: Moment? = nil, takesWholePart: Bool = false) throws {
        try chain.refuseIfShared()
        self.chain = chain
        self.takesWholePart = takesWholePart
        let bases = chain.bases()
        guard let oldest = bases.first else {
            throw CommandFailure(
                .noStore,
                "\(chain.path) has no base, and nothing can be restored from it. Use another backup."
            )
        }
        let candidates = bases.filter { base in time.map { base.time <= $0 } ?? true }
        guard !candidates.isEmpty else {
            throw CommandFailure(
                .data,
                "the oldest state in \(chain.path) is of \(oldest.time.text). Name a later time with --at."
            )
        }
        self.state = try Self.state(chain, candidates, until: time, takesWholePart)
    }

    /// The state of the newest base that can be used.
    private static func state(
        _ chain: BackupChain,
        _ bases: [ChainBase],
        until time: Moment?,
        _ takesWholePart: Bool
    ) throws -> ChainState {
        var damage: String?
        for base in bases.reversed() {
            let outcome = try chain.reading(base).read(until: time)
            damage = damage ?? outcome.damage
            guard let state = outcome.state else { continue }
            if let damage, !takesWholePart { throw Self.isDamaged(damage, wholeUpTo: state.time) }
            return state
        }
        throw Self.isDamaged(damage ?? chain.path, wholeUpTo: nil)
    }

    private static func isDamaged(_ damage: String, wholeUpTo time: Moment?) -> CommandFailure {
        guard let time else {
            return CommandFailure(.data, "\(damage), and no state is whole. Use another backup.")
        }
        return CommandFailure(
            .data,
            "\(damage). The backup is whole up to \(time.text): name that time with --at, "
                + "or restore what is whole with --whole-part."
        )
    }

    var summary: BackupSummary {
        BackupSummary(date: self.state.time.text, server: self.state.manifest.server)
    }

    var bytes: Int64 { self.state.bytes }

    mutating func fill(_ target: DataFolder, _ bar: inout ProgressBar) throws -> FilledFolder {
        let path = EngineOpening.files.path(in: target.path)
        while try !self.copyBase(to: path, &bar) {
            let damage = "\(self.state.base.storePath) is damaged"
            let older = self.chain.bases().filter { $0.time < self.state.base.time }
            guard !older.isEmpty else { throw Self.isDamaged(damage, wholeUpTo: nil) }
            let state = try Self.state(self.chain, older, until: nil, true)
            guard self.takesWholePart else { throw Self.isDamaged(damage, wholeUpTo: state.time) }
            self.state = state
        }
        for increment in self.state.increments {
            try EngineOpening.following.add(
                changes: self.state.base.pagesPath(increment.number),
                to: path
            )
            bar.add(Int(increment.bytes))
        }
        try self.writeTLS(to: target)
        let store = try EngineOpening.files.copy(ofBackup: path)
        let damaged = try self.chain.assets.copy(
            namedBy: store,
            to: AssetFiles(in: target.assetsPath),
            &bar
        )
        return FilledFolder(store: store, damaged: damaged)
    }

    /// Whether the copy is what the base was.
    private func copyBase(to path: String, _ bar: inout ProgressBar) throws -> Bool {
        do throws(FileCopy.Failure) {
            let made = try FileCopy.copy(self.state.base.storePath, to: path) { bar.add($0) }
            return made.bytes == self.state.manifest.bytes
                && Hexadecimal.text(of: made.sha256) == self.state.manifest.sha256
        } catch {
            guard case .source(let error) = error, error.isMissing else { throw error }
            return false
        }
    }

    private func writeTLS(to target: DataFolder) throws {
        let folder = try CopyFolder(making: target.path)
        for (name, text) in self.state.tls.sorted(by: { $0.key < $1.key }) {
            let path = "tls/" + name
            guard BackupManifest.isPath(path) else {
                throw CommandFailure(.data, "\(self.state.base.manifestPath) is damaged. Use another backup.")
            }
            try folder.makeSubfolder("tls")
            let file = try OpenFile(path: target.path + "/" + path, .replace)
            // SAFETY: the bytes are used in the call only.
            try text.withUnsafeBytes { try file.write($0, at: 0) }
        }
    }
}
