import Crypto
import Foundation
package import NIOCore
package import RecordModel
package import RecordStore
import Synchronization

/// The file of one asset while its bytes come.
///
///     recover… -> append… -> finish
///                 makeDurable…
///
/// Bytes are hashed as they are written. `makeDurable` syncs them, then writes and syncs a row with the hash up to the last end of a step, half a chunk,
/// which are counted from the first byte of the asset. While one step is synced the next is written, and no more: so a crash costs a chunk at the most.
/// Any call may fail; what was durable then is durable still, and a later `recover` finds it.
///
/// Every call blocks: to be made on the store's threads, one after the other (`AssetLane`); `makeDurable` alone may be made at any time, so that
/// bytes come and are hashed while the disk takes those before them.
package final class UploadFile: Sendable {
    /// How an upload's last step went.
    package enum Finish: Hashable, Sendable {
        /// All bytes are durable, and are those of the hash.
        case complete
        /// The bytes are others; they are removed.
        case differs
    }

    private struct State {
        var recovery: UploadRecovery?
        /// While it is written to.
        var file: OpenFile?
        /// Where the next byte goes.
        var offset: Int64 = 0
        /// Of all before `offset`.
        var hash = SHA256()
        /// The last end of a step that was written and is not durable.
        var stepEnd: (offset: Int64, hash: SHA256)?
        /// What is durable and has a row, or was found by the recovery.
        var durable: Int64 = 0
        var isClosed = false
    }

    /// Of whoever makes bytes durable; taken before `state`.
    private struct Rows {
        var file: OpenFile?
        var count = 0
        var hasSyncedFolder = false
    }

    package let number: AssetNumber
    package let asset: Asset
    private let folder: AssetFolder
    private let chunks: AssetStoreConfiguration.Chunks
    private let state = Mutex(State())
    private let rows = Mutex(Rows())

    init(
        number: AssetNumber,
        asset: Asset,
        folder: AssetFolder,
        chunks: AssetStoreConfiguration.Chunks
    ) {
        self.number = number
        self.asset = asset
        self.folder = folder
        self.chunks = chunks
    }

    /// Finds out what is there of an earlier upload, a step at a time.
    ///
    /// Nothing is read once the upload was closed. Fails with `diskFull` when the rest does not fit.
    ///
    /// Returns the first byte that is missing; `nil`: to be called again.
    package func recover() throws(AssetStoreError) -> Int64? {
        try self.withRows { rows, state throws(AssetStoreError) in
            guard !state.isClosed else { throw .failed(errno: ECANCELED) }
            if state.recovery == nil {
                guard let recovery = try self.startRecovery() else {
                    try self.folder.checkRoom(for: self.asset.size)
                    return 0
                }
                state.recovery = recovery
            }
            guard try state.recovery?.step() == true, let recovery = state.recovery else { return nil }
            state.recovery = nil
            try self.folder.checkRoom(for: self.asset.size - recovery.offset)
            state.offset = recovery.offset
            state.durable = recovery.offset
            state.hash = recovery.hash
            rows.count = recovery.rowCount
            return recovery.offset
        }
    }

    /// Bytes that `recover` has looked at so far.
    package var recoveredBytes: Int64 { self.state.withLock { $0.recovery?.offset ?? $0.offset } }

    /// Writes the bytes that come next; no byte beyond the size of the asset.
    ///
    /// Waits for the disk when it is a chunk behind. Returns how many bytes from the first are durable.
    package func append(_ pieces: [ByteBuffer]) throws(AssetStoreError) -> Int64 {
        try self.folder.checkRoom(for: 0)
        for piece in pieces {
            var rest = piece
            while rest.readableBytes > 0 {
                let isChunkAhead = try self.withState { state throws(AssetStoreError) in
                    precondition(state.offset + Int64(rest.readableBytes) <= self.asset.size)
                    let end = min(self.stepEnd(after: state.offset), state.durable + self.chunkBytes)
                    let count = min(rest.readableBytes, Int(end - state.offset))
                    try self.write(rest.readSlice(length: count) ?? ByteBuffer(), &state)
                    return state.offset - state.durable >= self.chunkBytes
                }
                if isChunkAhead { try self.makeDurable() }
            }
        }
        return self.state.withLock { $0.durable }
    }

    private var chunkBytes: Int64 { Int64(self.chunks.bytes) }

    private func stepEnd(after offset: Int64) -> Int64 {
        let step = Int64(self.chunks.stepBytes)
        return offset / step * step + step
    }

    /// Whether the end of a step was written that is not durable; with `isDue`, whether anything was that is worth it.
    package func wantsToBeDurable(isDue: Bool) -> Bool {
        self.state.withLock { state in
            guard state.file != nil else { return false }
            let isWorthIt =
                state.offset < self.asset.size
                && state.offset - state.durable >= Int64(min(self.chunks.bytesMin, self.chunks.bytes))
            return state.stepEnd != nil || (isDue && isWorthIt)
        }
    }

    /// Syncs what was written up to the last end of a step, or without one up to the call, then notes how far that is.
    ///
    /// Does nothing when the upload has ended.
    ///
    /// Returns how many bytes from the first are durable.
    @discardableResult
    package func makeDurable() throws(AssetStoreError) -> Int64 {
        var failure: AssetStoreError?
        self.rows.withLock { rows in
            do throws(AssetStoreError) {
                try self.makeDurable(&rows)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return self.state.withLock { $0.durable }
    }

    /// Compares the hash of all bytes, and makes them durable.
    ///
    /// - Durability: when it returns `complete`, bytes and name are on disk; no row is needed any more.
    package func finish() throws(AssetStoreError) -> Finish {
        try self.withRows { rows, state throws(AssetStoreError) in
            precondition(state.offset == self.asset.size)
            state.stepEnd = nil
            guard state.hash.finalize().elementsEqual(self.asset.sha256) else {
                state.file = nil
                rows.file = nil
                try self.folder.unlinkAll(self.number)
                return .differs
            }
            let file = try self.openFile(&state)
            try self.sync(file, state.durable..<self.asset.size)
            try self.folder.syncFolder(of: self.number)
            state.file = nil
            rows.file = nil
            try self.folder.unlinkIfThere(self.folder.rows(self.number))
            return .complete
        }
    }

    /// The upload ends before its last byte: what came is kept as far as it can be, and the file is closed.
    package func close() {
        self.rows.withLock { rows in
            // When this fails, the upload goes on from an earlier place.
            while self.wantsToBeDurable(isDue: true), (try? self.makeDurable(&rows)) != nil {}
            self.end(&rows)
        }
    }

    /// The upload ends, and nothing of it is to stay.
    package func discard() {
        self.rows.withLock { rows in
            self.end(&rows)
            // When this fails, the sweep does it.
            try? self.folder.unlinkAll(self.number)
        }
    }

    private func end(_ rows: inout Rows) {
        rows.file = nil
        self.state.withLock { state in
            state.file = nil
            state.recovery = nil
            state.stepEnd = nil
            state.isClosed = true
        }
    }

    // MARK: - Steps

    private func startRecovery() throws(AssetStoreError) -> UploadRecovery? {
        do throws(AssetStoreError) {
            try self.folder.pass(.open)
            let file = try OpenFile(path: self.folder.file(self.number), .read)
            return try UploadRecovery(
                file: file,
                rows: self.storedRows(),
                asset: self.asset,
                isKept: !self.isLarge
            )
        } catch .missing {
            return nil
        }
    }

    private func storedRows() throws(AssetStoreError) -> [ChunkRow] {
        do throws(AssetStoreError) {
            let file = try OpenFile(path: self.folder.rows(self.number), .read)
            var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
            let count = bytes.count
            var failure: AssetStoreError?
            // SAFETY: the bytes are used within the call only.
            let read = bytes.withUnsafeMutableBytes { buffer in
                do throws(AssetStoreError) {
                    return try file.read(into: buffer, at: 0)
                } catch {
                    failure = error
                    return count
                }
            }
            if let failure { throw failure }
            return ChunkRow.decode(Array(bytes.prefix(read)))
        } catch .missing {
            return []
        }
    }

    private func openFile(_ state: inout State) throws(AssetStoreError) -> OpenFile {
        if let file = state.file { return file }
        try self.folder.pass(.open)
        try self.folder.makeFolder(of: self.number)
        let file = try OpenFile(path: self.folder.file(self.number), .write)
        // What lies behind the place that was found is not to be trusted.
        if try file.size() > state.offset { try file.cut(to: state.offset) }
        state.file = file
        return file
    }

    private func write(_ piece: ByteBuffer, _ state: inout State) throws(AssetStoreError) {
        let file = try self.openFile(&state)
        let offset = state.offset
        try self.folder.pass(.write(offset: offset, bytes: piece.readableBytes))
        var failure: AssetStoreError?
        // SAFETY: the bytes are used within the call only.
        piece.withUnsafeReadableBytes { bytes in
            do throws(AssetStoreError) {
                try file.write(bytes, at: offset)
                state.hash.update(bufferPointer: bytes)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        state.offset += Int64(piece.readableBytes)
        let begun = offset / Self.handedBytes * Self.handedBytes
        if self.isLarge, state.offset >= begun + Self.handedBytes { file.release(begun..<state.offset) }
        if state.offset.isMultiple(of: Int64(self.chunks.stepBytes)), state.offset < self.asset.size {
            state.stepEnd = (state.offset, state.hash)
        }
    }

    private func makeDurable(_ rows: inout Rows) throws(AssetStoreError) {
        let (file, offset, hash, durable) = self.state.withLock { state in
            let end = state.stepEnd ?? (state.offset, state.hash)
            return (state.file, end.offset, end.hash, state.durable)
        }
        // The last bytes need no row: the hash of all says that they are there.
        guard let file, offset > durable, offset < self.asset.size else { return }
        try self.sync(file, durable..<offset)
        let rowFile: OpenFile
        if let open = rows.file {
            rowFile = open
        } else {
            rowFile = try OpenFile(path: self.folder.rows(self.number), .write)
            try rowFile.cut(to: Int64(rows.count * ChunkRow.bytes))
            rows.file = rowFile
        }
        let row = ChunkRow(offset: offset, sha256: Array(hash.finalize()))
        try self.folder.pass(.writeRow)
        try Self.write(row, to: rowFile, at: Int64(rows.count * ChunkRow.bytes))
        try self.folder.pass(.syncRows)
        try rowFile.sync()
        if !rows.hasSyncedFolder {
            try self.folder.syncFolder(of: self.number)
            rows.hasSyncedFolder = true
        }
        rows.count += 1
        self.state.withLock { state in
            state.durable = offset
            // Meanwhile another one may have been reached.
            if let end = state.stepEnd, end.offset <= offset { state.stepEnd = nil }
        }
    }

    /// `range`: the bytes that become durable.
    private func sync(_ file: OpenFile, _ range: Range<Int64>) throws(AssetStoreError) {
        try self.folder.pass(.sync)
        try file.sync()
        if self.isLarge { file.release(range) }
    }

    /// Whether the bytes are not to stay in the kernel's memory.
    private var isLarge: Bool { self.asset.size > self.chunks.keptBytesMax }

    /// So much goes to the disk at a time: a save that syncs meanwhile waits for no more, instead of half a chunk.
    private static let handedBytes: Int64 = 1_024 * 1_024

    private static func write(
        _ row: ChunkRow,
        to file: OpenFile,
        at offset: Int64
    ) throws(AssetStoreError) {
        var failure: AssetStoreError?
        // SAFETY: the bytes are used within the call only.
        row.encoded.withUnsafeBytes { bytes in
            do throws(AssetStoreError) {
                try file.write(bytes, at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func withState<Result: Sendable>(
        _ body: (inout sending State) throws(AssetStoreError) -> Result
    ) throws(AssetStoreError) -> Result {
        try self.state.withLock { state throws(AssetStoreError) in try body(&state) }
    }

    /// With nobody making bytes durable meanwhile.
    private func withRows<Result: Sendable>(
        _ body: (inout Rows, inout State) throws(AssetStoreError) -> Result
    ) throws(AssetStoreError) -> Result {
        try self.rows.withLock { rows throws(AssetStoreError) in
            try self.state.withLock { state throws(AssetStoreError) in try body(&rows, &state) }
        }
    }
}
