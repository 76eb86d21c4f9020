package import NIOCore
package import StorageContract

/// Stores the bytes of assets under the numbers of their rows.
///
/// A conformer knows no users and no rows. Its callers ensure that bytes exist only while there is
/// a row for their number, that a number has one upload at a time, and that only complete assets
/// are read.
///
/// - Threads: All calls return at once, from any thread. Each replies once, on a thread of the
///   conformer, which the reply must not block.
/// - Bounds: A conformer holds no more bytes than its callers pass and request, and a bounded
///   number for each upload. Callers bound the number of calls.
/// - Errors: `AssetStoreError`. A call that failed may be repeated.
package protocol AssetByteStore: Sendable {
    /// Prepares the storage; must be called first.
    ///
    /// - Throws: `failed`, if the storage cannot be used.
    func start() async throws(AssetStoreError)

    /// Returns when all calls have replied.
    func shutdown() async

    /// Returns the upload of some assets, without checking for existing bytes.
    ///
    /// Steps name items by their indexes in this array.
    func upload(_ items: [UploadItem]) -> any AssetUpload

    /// Reads pieces of complete assets.
    ///
    /// `buffer` makes a buffer for each piece, on a thread of the conformer. Each has room for the
    /// header and exactly `count` bytes after it. They are read into their final position.
    ///
    /// - Parameters:
    ///   - readings: One for each asset.
    ///   - buffer: Gets the number of bytes of header and piece.
    ///   - reply: Gets one result for each reading, in order, with one buffer for each piece. A
    ///     reading fails alone: `missing`, if the asset ends before the piece.
    func read(
        _ readings: [AssetReading],
        into buffer: @escaping @Sendable (Int) -> ByteBuffer,
        reply: @escaping @Sendable ([Result<[ByteBuffer], AssetStoreError>]) -> Void
    )

    /// Removes the bytes of assets, complete or not.
    ///
    /// Missing bytes are no error. After an error some of them may be gone.
    ///
    /// - Durability: replies when they would not be there after a crash.
    func remove(
        _ numbers: [AssetNumber],
        reply: @escaping @Sendable (Result<Void, AssetStoreError>) -> Void
    )

    /// Lists the numbers that have bytes, of incomplete assets too, a page at a time.
    ///
    /// - Shape: at most `limit` numbers, which is positive; a page may be empty and not the last.
    /// - Order: the conformer's own. A number that has bytes from the first call to the last is on
    ///   one page.
    /// - Parameters:
    ///   - cursor: That of the page before; `nil` for the first page.
    ///   - limit: Maximum number of entries on the page.
    ///   - reply: Gets the page.
    func list(
        after cursor: AssetPage.Cursor?,
        limit: Int,
        reply: @escaping @Sendable (Result<AssetPage, AssetStoreError>) -> Void
    )
}

/// Some of the numbers that have bytes.
package struct AssetPage: Hashable, Sendable {
    /// The end of a page, in the conformer's format.
    ///
    /// Valid for other instances of the conformer too.
    package struct Cursor: Hashable, Sendable {
        package var text: String

        package init(text: String) { self.text = text }
    }

    package var numbers: [AssetNumber]
    /// `nil` if this was the last page.
    package var next: Cursor?

    package init(numbers: [AssetNumber], next: Cursor?) {
        self.numbers = numbers
        self.next = next
    }
}

/// Consecutive pieces of a complete asset.
package struct AssetReading: Sendable {
    /// A range of bytes, and the header in front of it.
    package struct Piece: Sendable {
        package var offset: Int64
        package var count: Int
        package var header: ByteBuffer

        package init(offset: Int64, count: Int, header: ByteBuffer) {
            self.offset = offset
            self.count = count
            self.header = header
        }
    }

    package var number: AssetNumber
    package var pieces: [Piece]
    /// Number of bytes after the pieces that will be requested next.
    ///
    /// A conformer may fetch some of them meanwhile.
    package var restBytes: Int64
    /// Gets the bytes of each piece without its header, in order and before the reply, on the thread of the
    /// conformer that read them; `nil` if the caller wants them with the reply alone.
    // SAFETY: the bytes are valid within the call only.
    package var taken: (@Sendable (UnsafeRawBufferPointer) -> Void)?

    package init(
        of number: AssetNumber,
        _ pieces: [Piece],
        restBytes: Int64
    ) {
        self.number = number
        self.pieces = pieces
        self.restBytes = restBytes
    }
}
