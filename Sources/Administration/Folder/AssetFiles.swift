package import AssetStorage
import AssetStore
package import StorageContract

/// The files of assets in a data folder or a backup, for a command beside a server or without one.
///
/// Every call blocks. Alone names a byte store here.
package struct AssetFiles: Sendable {
    private let path: String
    private let store: AssetStore

    package init(in path: String) {
        self.path = path
        self.store = AssetStore(AssetStoreConfiguration(directory: path))
    }

    /// Makes the folder if it does not exist, durably.
    package func makeFolder() throws(AssetStoreError) { try self.store.makeFolder() }

    /// The path of an asset's file, relative to the folder.
    package func name(of number: AssetNumber) -> String { self.store.name(of: number) }

    /// The path of an asset's file, from the root.
    package func path(of number: AssetNumber) -> String { self.path + "/" + self.name(of: number) }

    /// The asset of a path such as `assets/2a/1f2a`; `nil` if it is none of an asset.
    package func number(ofPath path: String) -> AssetNumber? {
        guard let digits = path.split(separator: "/").last, let number = Int64(digits, radix: 16),
            number > 0, path == "assets/" + self.name(of: AssetNumber(rawValue: number))
        else { return nil }
        return AssetNumber(rawValue: number)
    }

    /// The path of a file that is to be made, in a folder that exists.
    package func placeForFile(of number: AssetNumber) throws(AssetStoreError) -> String {
        try self.store.makeFolder(of: number)
        return self.path(of: number)
    }

    /// Copies a file from elsewhere to the path of a complete asset.
    ///
    /// A file with other bytes leaves nothing there. `progress` gets the number of bytes since the
    /// last call.
    ///
    /// - Durability: after `FileCopy.syncDisk`.
    package func copy(
        fileAt path: String,
        as stored: StoredAsset,
        progress: (Int) -> Void
    ) throws(AssetStoreError) -> AssetCondition {
        try self.store.copy(fileAt: path, as: stored, progress: progress)
    }

    /// Whether there is a file with the size of a complete asset.
    package func hasFile(of stored: StoredAsset) -> Bool { self.store.hasFile(of: stored) }

    /// Reads all bytes of a complete asset, and compares their hash.
    ///
    /// `progress` gets the number of bytes since the last call.
    package func verify(_ stored: StoredAsset, progress: (Int) -> Void) -> AssetCondition {
        self.store.verify(stored, progress: progress)
    }

    /// Copies the file of a complete asset.
    ///
    /// A damaged file leaves nothing there. `progress` gets the number of bytes since the last call.
    ///
    /// - Durability: after `FileCopy.syncDisk`.
    /// - Throws: Errors of the other folder.
    package func copy(
        _ stored: StoredAsset,
        to other: AssetFiles,
        progress: (Int) -> Void
    ) throws(AssetStoreError) -> AssetCondition {
        try self.store.copy(stored, to: other.store, progress: progress)
    }

    /// Copies a file from elsewhere, or a range of its bytes, to the path of an incomplete asset, durably.
    ///
    /// A file with other bytes leaves nothing there.
    package func insert(
        fileAt path: String,
        _ range: Range<Int64>? = nil,
        as stored: StoredAsset
    ) throws(AssetStoreError) -> AssetCondition {
        try self.store.insert(fileAt: path, range, as: stored) { _ in }
    }

    /// Removes the file of an asset from a folder that no server uses.
    package func removeFile(of number: AssetNumber) throws(AssetStoreError) {
        try self.store.removeFile(of: number)
    }
}
