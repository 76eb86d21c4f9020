package import NIOCore
import NIOPosix
package import RecordModel
package import RecordStore

/// The files of assets: one a number, on threads of its own.
///
/// Knows nothing of who may have which asset: that is the registry's. A file exists only while the registry has a row for its number.
package final class AssetStore: Sendable {
    private let folder: AssetFolder
    private let threads: NIOThreadPool
    private let chunks: AssetStoreConfiguration.Chunks

    package init(_ configuration: AssetStoreConfiguration) {
        self.folder = AssetFolder(
            path: configuration.directory,
            reserveBytes: configuration.reserveBytes,
            faults: configuration.faults
        )
        self.threads = NIOThreadPool(numberOfThreads: configuration.threads)
        self.chunks = configuration.chunks
    }

    /// Makes the folder, and starts the threads.
    package func start() throws(AssetStoreError) {
        try self.folder.make()
        self.threads.start()
    }

    /// Ends the threads when all that was submitted is done.
    package func shutdown() async {
        try? await self.threads.shutdownGracefully()
    }

    /// An order of jobs on the store's threads.
    package func lane() -> AssetLane { AssetLane(threads: self.threads) }

    /// The file of an upload; nothing is opened yet.
    ///
    /// One at a time for a number.
    package func upload(_ number: AssetNumber, of asset: Asset) -> UploadFile {
        UploadFile(number: number, asset: asset, folder: self.folder, chunks: self.chunks)
    }

    func open(_ number: AssetNumber) throws(AssetStoreError) -> OpenFile {
        try OpenFile(path: self.folder.file(number), .read)
    }

    /// What a file is read for next, beside what is asked for: a disk turns while the network sends.
    private static let prefetchBytes = 1_024 * 1_024

    /// Reads a piece of an asset that is complete.
    ///
    /// Replies on a thread of the store, once, with the header and exactly `count` bytes behind it.
    package func read(
        _ number: AssetNumber,
        at offset: Int64,
        count: Int,
        behind header: ByteBuffer,
        reply: @escaping @Sendable (Result<ByteBuffer, AssetStoreError>) -> Void
    ) {
        let folder = self.folder
        self.threads.submit { _ in
            reply(
                Result { () throws(AssetStoreError) in
                    let file = try OpenFile(path: folder.file(number), .read)
                    let piece = try Self.read(file, at: offset, count: count, behind: header)
                    file.prefetch(Self.prefetchBytes, at: offset + Int64(count))
                    return piece
                }
            )
        }
    }

    private static func read(
        _ file: OpenFile,
        at offset: Int64,
        count: Int,
        behind header: ByteBuffer
    ) throws(AssetStoreError) -> ByteBuffer {
        var piece = ByteBufferAllocator().buffer(capacity: header.readableBytes + count)
        piece.writeImmutableBuffer(header)
        var failure: AssetStoreError?
        // SAFETY: the bytes are used within the call only, and counted as written only when they were.
        let read = piece.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { buffer in
            do throws(AssetStoreError) {
                return try file.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]),
                    at: offset
                )
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        guard read == count else { throw .missing }
        return piece
    }

    /// Removes files; those that are not there are as good as removed.
    ///
    /// - Durability: replies, on a thread of the store, when their names are gone from the disk.
    package func remove(
        _ numbers: [AssetNumber],
        reply: @escaping @Sendable (Result<Void, AssetStoreError>) -> Void
    ) {
        let folder = self.folder
        self.threads.submit { _ in
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
