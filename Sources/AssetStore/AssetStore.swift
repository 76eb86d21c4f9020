package import RecordModel
package import RecordStore

/// The files of assets: one a number, on threads of its own.
///
/// Knows nothing of who may have which asset: that is the registry's. A file exists only while the registry has a row for its number.
package final class AssetStore: Sendable {
    let folder: AssetFolder
    let threads: AssetThreads
    private let chunks: AssetStoreConfiguration.Chunks

    package init(_ configuration: AssetStoreConfiguration) {
        self.folder = AssetFolder(
            path: configuration.directory,
            reserveBytes: configuration.reserveBytes,
            faults: configuration.faults
        )
        self.threads = AssetThreads(count: configuration.threads)
        self.chunks = configuration.chunks
    }

    /// Makes the folder, and starts the threads.
    package func start() throws(AssetStoreError) {
        try self.folder.make()
        self.threads.start()
    }

    /// Ends the threads when all that was submitted is done.
    package func shutdown() async { await self.threads.shutdown() }

    /// An order of jobs on the store's threads.
    package func lane() -> AssetLane { AssetLane(threads: self.threads) }

    /// The file of an upload; nothing is opened yet.
    ///
    /// One at a time for a number.
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
        /// How many bytes from the first are durable.
        package let bytes: Int64
        /// Whether another chunk has come meanwhile.
        package let isMoreDue: Bool
    }

    /// Makes what was written of an upload durable, beside its lane; replies once, on a thread of the store.
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

    func open(_ number: AssetNumber) throws(AssetStoreError) -> OpenFile {
        try OpenFile(path: self.folder.file(number), .read)
    }

    /// Removes files; those that are not there are as good as removed.
    ///
    /// - Durability: replies, on a thread of the store, when their names are gone from the disk.
    package func remove(
        _ numbers: [AssetNumber],
        reply: @escaping @Sendable (Result<Void, AssetStoreError>) -> Void
    ) {
        let folder = self.folder
        self.threads.run {
            reply(
                Result { () throws(AssetStoreError) in
                    for number in numbers { try folder.unlinkAll(number) }
                    // Numbers ascend, so many share one of the folders.
                    var synced: Set<Int64> = []
                    for number in numbers where synced.insert(number.rawValue & 0xFF).inserted {
                        try folder.syncFolder(of: number)
                    }
                }
            )
        }
    }
}
