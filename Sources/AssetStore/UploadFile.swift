import Crypto
import Foundation
package import NIOCore
package import RecordModel
package import RecordStore
import Synchronization

/// The file of one asset while its bytes come.
///
///     recover… -> append… -> finish
///
/// Bytes are hashed as they are written. At the end of every chunk, which are counted from the first byte of the asset, they are synced, then a row
/// with the hash so far is written and synced: so a crash costs what came since. Any call may fail; what was durable then is durable still, and a later `recover` finds it.
///
/// Every call blocks: to be made on the store's threads, one after the other (`AssetLane`).
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
        var rows: OpenFile?
        /// Where the next byte goes.
        var offset: Int64 = 0
        /// Of all before `offset`.
        var hash = SHA256()
        /// What is durable and has a row, or was found by the recovery.
        var durable: Int64 = 0
        var rowCount = 0
        var hasSyncedFolder = false
        var isClosed = false
    }

    package let number: AssetNumber
    package let asset: Asset
    private let folder: AssetFolder
    private let chunks: AssetStoreConfiguration.Chunks
    private let state = Mutex(State())

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
        try self.withState { state throws(AssetStoreError) in
            guard !state.isClosed else { throw .failed(errno: ECANCELED) }
            if state.recovery == nil {
                guard let recovery = try self.startRecovery() else {
                    try self.folder.checkRoom(for: self.asset.size)
                    return 0
                }
                state.recovery = recovery
            }
            guard try state.recovery?.step() == true, let recovery = state.recovery else { return nil }
            try self.folder.checkRoom(for: self.asset.size - recovery.offset)
            state.recovery = nil
            state.offset = recovery.offset
            state.durable = recovery.offset
            state.hash = recovery.hash
            state.rowCount = recovery.rowCount
            return recovery.offset
        }
    }

    /// Bytes that `recover` has looked at so far.
    package var recoveredBytes: Int64 { self.state.withLock { $0.recovery?.offset ?? $0.offset } }

    /// Writes the bytes that come next; no byte beyond the size of the asset.
    ///
    /// With `isDue` what came is made durable though it is less than a chunk. Returns how many bytes from the first are durable.
    package func append(_ pieces: [ByteBuffer], isDue: Bool) throws(AssetStoreError) -> Int64 {
        try self.withState { state throws(AssetStoreError) in
            try self.folder.checkRoom(for: 0)
            for piece in pieces {
                precondition(state.offset + Int64(piece.readableBytes) <= self.asset.size)
                var rest = piece
                while let bytes = self.takeWithinChunk(&rest, at: state.offset) {
                    try self.write(bytes, &state)
                    guard state.offset.isMultiple(of: Int64(self.chunks.bytes)) else { continue }
                    try self.makeDurable(&state)
                }
            }
            if isDue { try self.makeDurableUnlessSmall(&state) }
            return state.durable
        }
    }

    /// Takes what belongs to the chunk that the offset is in; `nil`: nothing is left.
    private func takeWithinChunk(_ rest: inout ByteBuffer, at offset: Int64) -> ByteBuffer? {
        guard rest.readableBytes > 0 else { return nil }
        let left = Int64(self.chunks.bytes) - offset % Int64(self.chunks.bytes)
        return rest.readSlice(length: Int(min(left, Int64(rest.readableBytes))))
    }

    /// Compares the hash of all bytes, and makes them durable.
    ///
    /// - Durability: when it returns `complete`, bytes and name are on disk; no row is needed any more.
    package func finish() throws(AssetStoreError) -> Finish {
        try self.withState { state throws(AssetStoreError) in
            precondition(state.offset == self.asset.size)
            guard state.hash.finalize().elementsEqual(self.asset.sha256) else {
                state.file = nil
                state.rows = nil
                try self.folder.unlinkAll(self.number)
                return .differs
            }
            let file = try self.openFile(&state)
            try self.folder.pass(.sync)
            try file.sync()
            try self.folder.syncFolder(of: self.number)
            state.file = nil
            state.rows = nil
            try self.folder.unlinkIfThere(self.folder.rows(self.number))
            return .complete
        }
    }

    /// The upload ends before its last byte: what came is kept as far as it can be, and the file is closed.
    package func close() {
        self.state.withLock { state in
            guard !state.isClosed else { return }
            // When this fails, the upload goes on from an earlier place.
            try? self.makeDurableUnlessSmall(&state)
            state.file = nil
            state.rows = nil
            state.recovery = nil
            state.isClosed = true
        }
    }

    /// The upload ends, and nothing of it is to stay.
    package func discard() {
        self.state.withLock { state in
            state.file = nil
            state.rows = nil
            state.recovery = nil
            state.isClosed = true
            // When this fails, the sweep does it.
            try? self.folder.unlinkAll(self.number)
        }
    }

    // MARK: - Steps

    private func startRecovery() throws(AssetStoreError) -> UploadRecovery? {
        do throws(AssetStoreError) {
            try self.folder.pass(.open)
            let file = try OpenFile(path: self.folder.file(self.number), .read)
            return try UploadRecovery(file: file, rows: self.storedRows(), asset: self.asset)
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
    }

    private func makeDurableUnlessSmall(_ state: inout State) throws(AssetStoreError) {
        guard state.offset - state.durable >= Int64(self.chunks.bytesMin) else { return }
        try self.makeDurable(&state)
    }

    /// Syncs what was written, then notes how far that is.
    private func makeDurable(_ state: inout State) throws(AssetStoreError) {
        // The last bytes need no row: the hash of all says that they are there.
        guard let file = state.file, state.offset < self.asset.size else { return }
        try self.folder.pass(.sync)
        try file.sync()
        let rows: OpenFile
        if let open = state.rows {
            rows = open
        } else {
            rows = try OpenFile(path: self.folder.rows(self.number), .write)
            try rows.cut(to: Int64(state.rowCount * ChunkRow.bytes))
            state.rows = rows
        }
        let row = ChunkRow(offset: state.offset, sha256: Array(state.hash.finalize()))
        try self.folder.pass(.writeRow)
        try Self.write(row, to: rows, at: Int64(state.rowCount * ChunkRow.bytes))
        try self.folder.pass(.syncRows)
        try rows.sync()
        if !state.hasSyncedFolder {
            try self.folder.syncFolder(of: self.number)
            state.hasSyncedFolder = true
        }
        state.rowCount += 1
        state.durable = state.offset
    }

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
}
