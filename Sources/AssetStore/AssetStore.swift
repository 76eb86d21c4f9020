package import AssetStorage
import FileIO
package import RecordModel
package import StorageContract

/// The bytes of assets in a local folder: one file per number, accessed on threads of the store's
/// own.
package final class AssetStore: AssetByteStore {
    let folder: AssetFolder
    let threads: FileThreads
    private let chunks: AssetStoreConfiguration.Chunks

    package init(_ configuration: AssetStoreConfiguration) {
        self.folder = AssetFolder(
            path: configuration.directory,
            isShared: configuration.isShared,
            reserveBytes: configuration.reserveBytes,
            faults: configuration.faults
        )
        self.threads = FileThreads(count: configuration.threads, priority: .low)
        self.chunks = configuration.chunks
    }

    /// Makes the folder, and starts the threads.
    package func start() throws(AssetStoreError) {
        try self.folder.make()
        self.threads.start()
    }

    /// Stops the threads after all submitted jobs.
    package func shutdown() async { await self.threads.shutdown() }

    package func upload(_ items: [UploadItem]) -> any AssetUpload {
        let files = items.map { item in item.number.map { self.uploadFile($0, of: item.asset) } }
        return FolderUpload(items, files: files, threads: self.threads)
    }

    /// Returns the file of an upload, without opening it.
    package func uploadFile(_ number: AssetNumber, of asset: Asset) -> UploadFile {
        UploadFile(
            number: number,
            asset: asset,
            folder: self.folder,
            chunks: self.chunks,
            threads: self.threads
        )
    }

    /// Removes files, and syncs their folders.
    package func remove(
        _ numbers: [AssetNumber],
        reply: @escaping @Sendable (Result<Void, AssetStoreError>) -> Void
    ) {
        let folder = self.folder
        self.threads.run {
            reply(
                Result { () throws(AssetStoreError) in
                    for number in numbers { try folder.unlinkAll(number) }
                    // Numbers ascend: many of them share one folder.
                    var synced: Set<Int64> = []
                    for number in numbers where synced.insert(AssetFolder.lastDigits(of: number)).inserted {
                        try folder.syncFolder(of: number)
                    }
                }
            )
        }
    }
}
