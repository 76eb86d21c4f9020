internal import Foundation

/// Removes the least recently used files, so that the cache stays within its bound.
extension AssetCache {
    private struct File {
        var path: String
        var name: String
        var size: Int64
        var usedSeconds: Int
        var links: Int
        var isPartial: Bool
    }

    /// How long the rest of an interrupted download is kept.
    private static let partialSeconds = 7 * 24 * 60 * 60

    /// Removes files until the others are within the bound.
    ///
    /// It spares files that an asset of a living process names, that were used within the grace
    /// time, or that a download has locked.
    func sweep(now: Int) {
        guard let lock = FolderLock(self.folder + "/lock", isExclusive: true, waits: false) else { return }
        defer { withExtendedLifetime(lock) {} }
        self.removeDeadLeases()
        let files = self.files("assets", isPartial: false) + self.files("partial", isPartial: true)
        var bytes = files.reduce(0) { $0 + $1.size }
        for file in files.sorted(by: { $0.usedSeconds < $1.usedSeconds }) {
            let age = now - file.usedSeconds
            let isForgotten = file.isPartial && age > Self.partialSeconds
            guard isForgotten || (bytes > self.bytesMax && age > Self.graceSeconds) else { continue }
            if self.remove(file) { bytes -= file.size }
        }
    }

    private func remove(_ file: File) -> Bool {
        guard file.isPartial else {
            return file.links == 1 && !self.isLeased(file.name) && unlink(file.path) == 0
        }
        guard let lock = FolderLock(file.path, isExclusive: true, waits: false) else { return false }
        defer { withExtendedLifetime(lock) {} }
        return unlink(file.path) == 0
    }

    private func files(_ part: String, isPartial: Bool) -> [File] {
        let folder = self.folder + "/" + part
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { name in
            let path = folder + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            return File(
                path: path,
                name: name,
                size: Int64(status.st_size),
                usedSeconds: status.st_mtim.tv_sec,
                links: Int(status.st_nlink),
                isPartial: isPartial
            )
        }
    }
}
