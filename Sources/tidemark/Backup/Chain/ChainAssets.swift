import Administration
import AssetStorage
import FileIO
import Foundation
import RecordModel
import StorageContract

/// The files of assets of all states of a chain, each named by its hash.
///
/// Numbers of assets would not do as names: after a restore, the server gives some of them again.
struct ChainAssets: Hashable {
    private static let pageMax = 1_000

    let path: String

    func file(_ sha256: String) -> String { "\(self.path)/\(sha256.prefix(2))/\(sha256)" }

    /// Adds the file of an asset, unless it is there.
    ///
    /// - Durability: None.
    func add(
        _ stored: StoredAsset,
        from files: AssetFiles,
        progress: (Int) -> Void
    ) throws -> AssetCondition {
        let hash = Hexadecimal.text(of: stored.asset.sha256)
        let target = self.file(hash)
        if (try? OpenFile(path: target, .read).size()) == stored.asset.size { return .intact }
        for folder in [self.path, "\(self.path)/\(hash.prefix(2))"] {
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw FileError(errno: errno) }
        }
        let draft = target + BackupChain.unfinishedSuffix
        do throws(FileCopy.Failure) {
            let copy = try FileCopy.copy(files.path(of: stored.number), to: draft, progress: progress)
            guard copy.bytes == stored.asset.size, copy.sha256 == stored.asset.sha256 else {
                unlink(draft)
                return copy.bytes == stored.asset.size ? .differs : .wrongSize(copy.bytes)
            }
        } catch {
            unlink(draft)
            guard case .source(let error) = error else { throw error }
            return error.isMissing ? .missing : .unreadable(code: error.errno)
        }
        guard rename(draft, target) == 0 else { throw FileError(errno: errno) }
        return .intact
    }

    /// Copies the files of all assets that the copy of a store names to the folder of a restore.
    ///
    /// - Returns: Assets without an intact file that a record names.
    func copy(
        namedBy rows: any StoreCopy,
        to target: AssetFiles,
        _ bar: inout ProgressBar
    ) throws -> [AssetReport.Damaged] {
        try target.makeFolder()
        var damaged: [AssetReport.Damaged] = []
        var last: AssetNumber?
        while true {
            let page = try rows.assets(after: last, limit: Self.pageMax)
            for stored in page {
                let file = self.file(Hexadecimal.text(of: stored.asset.sha256))
                let condition = try target.copy(fileAt: file, as: stored) { bar.add($0) }
                if condition != .intact, try !rows.forgetUnnamed(stored.number) {
                    damaged.append(AssetReport.Damaged(stored, condition, in: target))
                }
            }
            guard page.count == Self.pageMax else { return damaged }
            last = page.last?.number
        }
    }

    /// Removes the files that no state needs.
    func removeAll(but kept: Set<String>) {
        let files = FileManager.default
        for folder in (try? files.contentsOfDirectory(atPath: self.path)) ?? [] {
            for name in (try? files.contentsOfDirectory(atPath: self.path + "/" + folder)) ?? []
            where !kept.contains(name) && name.prefixMatch(of: /[0-9a-f]{64}/) != nil {
                unlink("\(self.path)/\(folder)/\(name)")
            }
        }
    }
}
