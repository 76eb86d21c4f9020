import AssetStorage
import FileIO
import NIOCore
import RecordModel
import StorageContract
import SystemCrypto

/// Writes the bytes of an upload to its file, and hashes them.
///
/// The bytes of a large asset bypass the page cache: the disk reads them for another thread while
/// they are hashed. So a call takes as long as the longer of both, and no more processor time than
/// the hash.
struct UploadWriter {
    /// The bytes from the beginning up to an offset.
    struct Written: Sendable {
        let file: OpenFile
        let offset: Int64
        let hash: SHA256
    }

    private let number: AssetNumber
    private let asset: Asset
    private let folder: AssetFolder
    private let chunks: AssetStoreConfiguration.Chunks
    private let threads: FileThreads
    private var file: OpenFile?
    private var writer: FileWriter?
    /// The offset of the next byte.
    private(set) var offset: Int64 = 0
    /// Hash of all bytes before `offset`.
    private(set) var hash = SHA256()
    /// The last end of a step that was written, until it is durable.
    private var stepEnd: (offset: Int64, hash: SHA256)?

    init(
        number: AssetNumber,
        asset: Asset,
        folder: AssetFolder,
        chunks: AssetStoreConfiguration.Chunks,
        threads: FileThreads
    ) {
        self.number = number
        self.asset = asset
        self.folder = folder
        self.chunks = chunks
        self.threads = threads
    }

    /// Continues after the bytes of an earlier upload.
    mutating func goOn(behind recovery: UploadRecovery) {
        self.offset = recovery.offset
        self.hash = recovery.hash
    }

    var isOpen: Bool { self.file != nil }

    /// Whether the end of a step was written and is not durable.
    var hasStepEnd: Bool { self.stepEnd != nil }

    /// Offset at which the current step ends.
    var stepEndOffset: Int64 {
        let step = Int64(self.chunks.stepBytes)
        return self.offset / step * step + step
    }

    /// The bytes up to the last end of a step, or all if no step has ended; `nil` if the file is
    /// not open.
    var written: Written? {
        guard let file else { return nil }
        let (offset, hash) = self.stepEnd ?? (self.offset, self.hash)
        return Written(file: file, offset: offset, hash: hash)
    }

    /// All written bytes.
    mutating func all() throws(AssetStoreError) -> Written {
        let file = try self.openFile()
        return Written(file: file, offset: self.offset, hash: self.hash)
    }

    mutating func becameDurable(through offset: Int64) {
        if let end = self.stepEnd, end.offset <= offset { self.stepEnd = nil }
    }

    /// Closes the file, unless a `written` value still uses it.
    mutating func close() {
        self.file = nil
        self.writer = nil
        self.stepEnd = nil
    }

    /// Writes the next bytes, within the current step.
    mutating func write(_ pieces: [ByteBuffer]) throws(AssetStoreError) {
        let file = try self.openFile()
        let writer = self.writer ?? FileWriter(file, isLarge: self.chunks.isLarge(self.asset))
        self.writer = writer
        var end = self.offset
        for piece in pieces {
            try self.folder.pass(.write(offset: end, bytes: piece.readableBytes))
            end += Int64(piece.readableBytes)
        }
        precondition(end <= self.asset.size)
        let write = SharedJob { [offset = self.offset] in
            Result { () throws(AssetStoreError) in
                try writer.write(pieces, at: offset)
            }
        }
        if self.chunks.isLarge(self.asset) { self.threads.run { _ = write.result } }
        var hash = self.hash
        for piece in pieces {
            // SAFETY: the bytes are used within the call only.
            piece.withUnsafeReadableBytes { hash.add($0) }
        }
        try write.result.get()
        self.hash = hash
        self.offset = end
        if end.isMultiple(of: Int64(self.chunks.stepBytes)), end < self.asset.size {
            self.stepEnd = (end, self.hash)
        }
    }

    private mutating func openFile() throws(AssetStoreError) -> OpenFile {
        if let file { return file }
        try self.folder.pass(.open)
        let file = try self.folder.openForWriting(self.number)
        let offset = self.offset
        try onFile { () throws(FileError) in
            // Bytes after the recovered offset cannot be trusted.
            if try file.size() > offset { try file.cut(to: offset) }
        }
        self.file = file
        return file
    }
}

extension FileWriter {
    fileprivate func write(_ pieces: [ByteBuffer], at offset: Int64) throws(AssetStoreError) {
        var failure: FileError?
        ByteBuffer.withMemory(of: pieces) { memory in
            do throws(FileError) {
                try self.write(memory, at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw AssetStoreError(failure) }
    }
}

extension ArraySlice<ByteBuffer> {
    /// Removes and returns at most this many bytes from the front.
    mutating func take(_ count: Int) -> [ByteBuffer] {
        var taken: [ByteBuffer] = []
        var left = count
        while left > 0, var piece = self.first {
            if let part = piece.readSlice(length: Swift.min(left, piece.readableBytes)),
                part.readableBytes > 0
            {
                left -= part.readableBytes
                taken.append(part)
            }
            if piece.readableBytes == 0 { self.removeFirst() } else { self[self.startIndex] = piece }
        }
        return taken
    }
}
