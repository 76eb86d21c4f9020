import Crypto
import FileWriting
import NIOCore
import RecordModel
import RecordStore

/// Writes the bytes of an upload to their places in its file, and hashes them.
///
/// Those of a large asset go past the kernel's memory: another thread has the disk read them while they are hashed. So a call takes as long as the longer
/// of both, and no more of the processor's time than the hash.
struct UploadWriter {
    /// Bytes from the first to a place.
    struct Written: Sendable {
        let file: OpenFile
        let offset: Int64
        let hash: SHA256
    }

    private let number: AssetNumber
    private let asset: Asset
    private let folder: AssetFolder
    private let chunks: AssetStoreConfiguration.Chunks
    private let threads: AssetThreads
    private var file: OpenFile?
    private var writer: FileWriter?
    /// Where the next byte goes.
    private(set) var offset: Int64 = 0
    /// Of all before `offset`.
    private(set) var hash = SHA256()
    /// The last end of a step that was written, until it is durable.
    private var stepEnd: (offset: Int64, hash: SHA256)?

    init(
        number: AssetNumber,
        asset: Asset,
        folder: AssetFolder,
        chunks: AssetStoreConfiguration.Chunks,
        threads: AssetThreads
    ) {
        self.number = number
        self.asset = asset
        self.folder = folder
        self.chunks = chunks
        self.threads = threads
    }

    /// Goes on behind what is there of an earlier upload.
    mutating func goOn(behind recovery: UploadRecovery) {
        self.offset = recovery.offset
        self.hash = recovery.hash
    }

    var isOpen: Bool { self.file != nil }

    /// Whether the end of a step was written that is not durable.
    var hasStepEnd: Bool { self.stepEnd != nil }

    /// Where the current step ends.
    var stepEndOffset: Int64 {
        let step = Int64(self.chunks.stepBytes)
        return self.offset / step * step + step
    }

    /// What was written up to the last end of a step, or without one so far; `nil`: the file is not open.
    var written: Written? {
        guard let file else { return nil }
        let (offset, hash) = self.stepEnd ?? (self.offset, self.hash)
        return Written(file: file, offset: offset, hash: hash)
    }

    /// All that was written.
    mutating func all() throws(AssetStoreError) -> Written {
        let file = try self.openFile()
        return Written(file: file, offset: self.offset, hash: self.hash)
    }

    mutating func becameDurable(through offset: Int64) {
        if let end = self.stepEnd, end.offset <= offset { self.stepEnd = nil }
    }

    /// Whoever has `written` keeps the file open.
    mutating func close() {
        self.file = nil
        self.writer = nil
        self.stepEnd = nil
    }

    /// Writes the bytes that come next, within the current step.
    mutating func write(_ pieces: [ByteBuffer]) throws(AssetStoreError) {
        let file = try self.openFile()
        let writer = self.writer ?? FileWriter(file.descriptor, isLarge: self.chunks.isLarge(self.asset))
        self.writer = writer
        var end = self.offset
        for piece in pieces {
            try self.folder.pass(.write(offset: end, bytes: piece.readableBytes))
            end += Int64(piece.readableBytes)
        }
        precondition(end <= self.asset.size)
        let write = SharedJob { [offset = self.offset] in
            Result { () throws(AssetStoreError) in
                // The writer knows no more of the file than its number.
                try withExtendedLifetime(file) { () throws(AssetStoreError) in
                    try writer.write(pieces, at: offset)
                }
            }
        }
        if self.chunks.isLarge(self.asset) { self.threads.run { _ = write.result } }
        var hash = self.hash
        for piece in pieces {
            // SAFETY: the bytes are used within the call only.
            piece.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
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
        try self.folder.makeFolder(of: self.number)
        let file = try OpenFile(path: self.folder.file(self.number), .write)
        // What lies behind the place that was found is not to be trusted.
        if try file.size() > self.offset { try file.cut(to: self.offset) }
        self.file = file
        return file
    }
}

extension FileWriter {
    fileprivate func write(_ pieces: [ByteBuffer], at offset: Int64) throws(AssetStoreError) {
        var failure: FileWriteFailure?
        ByteBuffer.withMemory(of: pieces) { memory in
            do throws(FileWriteFailure) {
                try self.write(memory, at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw AssetStoreError(errno: failure.errno) }
    }
}

extension ArraySlice<ByteBuffer> {
    /// Takes bytes off the front, as many as there are and no more than the count.
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
