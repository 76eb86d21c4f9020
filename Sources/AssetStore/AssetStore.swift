package import FileIO
package import RecordModel
package import RecordStore

/// The files of assets: one per number, accessed on threads of the store's own.
///
/// The store knows no permissions: the registry decides who may read which asset. A file exists
/// only while the registry has a row for its number.
package final class AssetStore: Sendable {
    let folder: AssetFolder
    let threads: FileThreads
    private let chunks: AssetStoreConfiguration.Chunks

    package init(_ configuration: AssetStoreConfiguration) {
        self.folder = AssetFolder(
            path: configuration.directory,
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

    /// Makes a lane, whose jobs are executed in order.
    package func lane() -> FileLane { FileLane(on: self.threads) }

    /// Returns the file of an upload, without opening it.
    ///
    /// A number must have one upload at a time.
    package func upload(_ number: AssetNumber, of asset: Asset) -> UploadFile {
        UploadFile(
            number: number,
            asset: asset,
            folder: self.folder,
            chunks: self.chunks,
            threads: self.threads
        )
    }

    package struct Durable: Sendable {
        /// Number of bytes from the beginning that are durable.
        package let bytes: Int64
        /// Whether another chunk has been written meanwhile.
        package let isMoreDue: Bool
    }

    /// Makes the written bytes of an upload durable, in parallel with its lane.
    ///
    /// Replies once, on a thread of the store.
    package func makeDurable(
        _ file: UploadFile,
        reply: @escaping @Sendable (Result<Durable, AssetStoreError>) -> Void
    ) {
        self.threads.run {
            reply(
                Result { () throws(AssetStoreError) in
                    let bytes = try file.makeDurable()
                    return Durable(bytes: bytes, isMoreDue: file.wantsToBeDurable(isDue: false))
                }
            )
        }
    }

    /// Removes files.
    ///
    /// A missing file is no error.
    ///
    /// - Durability: replies, on a thread of the store, when the directory entries are gone from
    ///   the disk.
    package func remove(
        _ numbers: [AssetNumber],
        reply: @escaping @Sendable (Result<Void, AssetStoreError>) -> Void
    ) {
        let folder = self.folder
        self.threads.run {
            reply(
                Result { () throws(AssetStoreError) in
                    for number in numbers { try folder.unlinkAll(number) }
                    // Numbers ascend, so many of them share one folder.
                    var synced: Set<Int64> = []
                    for number in numbers where synced.insert(number.rawValue & 0xFF).inserted {
                        try folder.syncFolder(of: number)
                    }
                }
            )
        }
    }
}
