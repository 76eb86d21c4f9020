package import AssetStorage
import FileIO
import RecordModel
package import StorageContract

extension AssetStore {
    /// Whether there is a file with the size of a complete asset.
    package func hasFile(of stored: StoredAsset) -> Bool {
        (try? self.folder.open(stored.number).size()) == stored.asset.size
    }

    /// Makes the folder of all assets.
    package func makeFolder() throws(AssetStoreError) { try self.folder.make() }

    /// Copies the file of a complete asset to the folder of another store.
    ///
    /// A damaged file leaves nothing there. Blocks; may be called without `start`. `progress` gets
    /// the number of bytes since the last call.
    ///
    /// - Durability: after `FileCopy.syncDisk`.
    /// - Throws: Errors of the other folder.
    package func copy(
        _ stored: StoredAsset,
        to other: AssetStore,
        progress: (Int) -> Void
    ) throws(AssetStoreError) -> AssetCondition {
        try other.copy(fileAt: self.folder.file(stored.number), as: stored, progress: progress)
    }

    /// Copies an external file to the path of a complete asset.
    ///
    /// A file with other bytes leaves nothing there. Blocks; may be called without `start`.
    /// `progress` gets the number of bytes since the last call.
    ///
    /// - Durability: after `FileCopy.syncDisk`.
    package func copy(
        fileAt path: String,
        as stored: StoredAsset,
        progress: (Int) -> Void
    ) throws(AssetStoreError) -> AssetCondition {
        try self.folder.makeFolder(of: stored.number)
        let target = self.folder.file(stored.number)
        let condition = try Self.copyFile(at: path, to: target, of: stored.asset, progress: progress)
        if condition != .intact { try self.folder.unlinkIfThere(target) }
        return condition
    }

    /// Makes the folder of an asset's file, durably.
    package func makeFolder(of number: AssetNumber) throws(AssetStoreError) {
        try self.folder.makeFolder(of: number)
    }

    /// Copies an operator's file, or a range of its bytes, to the path of an incomplete asset,
    /// replacing any file there.
    ///
    /// A file with other bytes leaves nothing there. Blocks; may be called without `start`. `progress`
    /// gets the number of bytes since the last call.
    ///
    /// - Durability: The file and its name are on disk when this returns `intact`.
    package func insert(
        fileAt path: String,
        _ range: Range<Int64>? = nil,
        as stored: StoredAsset,
        progress: (Int) -> Void
    ) throws(AssetStoreError) -> AssetCondition {
        try self.folder.makeFolder(of: stored.number)
        try self.folder.checkRoom(for: stored.asset.size)
        // Rows of an earlier upload would describe other bytes.
        try self.folder.unlinkAll(stored.number)
        let target = self.folder.file(stored.number)
        let condition = try Self.copyFile(
            at: path,
            range,
            to: target,
            of: stored.asset,
            progress: progress
        )
        guard condition == .intact else {
            try self.folder.unlinkIfThere(target)
            return condition
        }
        let file = try self.folder.open(stored.number)
        try onFile { () throws(FileError) in try file.sync() }
        try self.folder.syncFolder(of: stored.number)
        return .intact
    }

    /// Copies a file, and checks whether the copy has the bytes of the asset.
    ///
    /// - Throws: Errors of the target; those of the source are a condition.
    private static func copyFile(
        at path: String,
        _ range: Range<Int64>? = nil,
        to target: String,
        of asset: Asset,
        progress: (Int) -> Void
    ) throws(AssetStoreError) -> AssetCondition {
        do throws(FileCopy.Failure) {
            let copy = try FileCopy.copy(path, range, to: target, progress: progress)
            guard copy.bytes == asset.size else { return .wrongSize(copy.bytes) }
            return copy.sha256 == asset.sha256 ? .intact : .differs
        } catch {
            switch error {
            case .target(let error): throw AssetStoreError(error)
            case .source(let error): return AssetCondition(AssetStoreError(error))
            }
        }
    }

    /// Removes the file of an asset from a folder that no server uses.
    package func removeFile(of number: AssetNumber) throws(AssetStoreError) {
        try self.folder.unlinkAll(number)
    }
}
