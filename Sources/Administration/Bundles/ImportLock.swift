import Foundation

/// The right to import into a data folder; of one process at a time.
///
/// Two imports of one bundle would take each other's records for those of an interrupted one. The lock
/// is on the folder of assets, into which imports write: that of all data tells when a format changes.
package final class ImportLock: Sendable {
    private let descriptor: Int32

    /// - Throws: `isBusy`, `folderNotOpened`.
    package init(_ folder: DataFolder) throws(BundleFailure) {
        try? AssetFiles(in: folder.assetsPath).makeFolder()
        self.descriptor = open(folder.assetsPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard self.descriptor >= 0 else {
            throw .folderNotOpened(folder.assetsPath)
        }
        guard flock(self.descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .isBusy(folder: folder.path)
        }
    }

    deinit { close(self.descriptor) }
}
