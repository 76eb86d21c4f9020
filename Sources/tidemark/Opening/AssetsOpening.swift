import Administration
import AssetStorage
import AssetStore
import RecordServer
import RecordStore

/// The only code of the program that names a byte store: that of a server.
enum AssetsOpening {
    /// Makes the byte store of a data folder for a server.
    ///
    /// Uploads leave the database the room that its reserve lacks.
    static func make(
        _ folder: DataFolder,
        settings live: LiveSettings,
        reserveMissingBytes: @escaping @Sendable () -> Int64
    ) -> any AssetByteStore {
        let settings = live.current
        var configuration = AssetStoreConfiguration(directory: folder.assetsPath)
        configuration.isShared = StoreAddress.exists(in: folder)
        configuration.threads = settings.assetThreads
        configuration.chunks.bytes = settings.server.storage.assetChunkBytes
        configuration.reserveBytes = { Int64(live.current.diskReserveBytes) + reserveMissingBytes() }
        return AssetStore(configuration)
    }
}
