import Foundation

/// Removes what a chain no longer needs.
struct ChainRetention {
    let chain: BackupChain
    /// The time for which every state can be restored.
    let keep: Span

    /// Removes the bases, with their increments, that no state of the kept time builds on.
    ///
    /// The state at the beginning of that time is of the newest base that is not younger.
    ///
    /// - Returns: The names of the bases.
    func removeBases(now: Moment) -> [String] {
        let start = Moment(milliseconds: now.milliseconds - self.keep.seconds * 1_000)
        let bases = self.chain.bases()
        var removed: [String] = []
        for (base, next) in zip(bases, bases.dropFirst()) where next.time <= start {
            // With another name it is no base, whatever is left of it.
            let dropped = self.chain.path + "/" + base.name + BackupChain.unfinishedSuffix
            rename(base.path, dropped)
            try? FileManager.default.removeItem(atPath: dropped)
            removed.append(base.name)
        }
        if !removed.isEmpty { self.removeUnused() }
        return removed
    }

    /// Removes what a process has left that was killed, and assets that no state names.
    ///
    /// A manifest that cannot be read may name assets, so then all assets stay.
    func removeUnused() {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: self.chain.path)) ?? []
        where name.hasSuffix(BackupChain.unfinishedSuffix) {
            try? files.removeItem(atPath: self.chain.path + "/" + name)
        }
        var kept: Set<String> = []
        for base in self.chain.bases() {
            for name in (try? files.contentsOfDirectory(atPath: base.path)) ?? []
            where name.hasSuffix(BackupChain.unfinishedSuffix) {
                unlink(base.path + "/" + name)
            }
            guard let json = files.contents(atPath: base.manifestPath),
                let manifest = try? JSONDecoder().decode(BaseManifest.self, from: json),
                let list = base.listedAssets(manifest)
            else { return }
            kept.formUnion(list)
            for number in 1..<(base.lastNumber + 1) {
                guard let json = files.contents(atPath: base.manifestPath(number)),
                    let increment = try? JSONDecoder().decode(IncrementManifest.self, from: json)
                else { return }
                kept.formUnion(increment.assets)
            }
        }
        self.chain.assets.removeAll(but: kept)
    }
}
