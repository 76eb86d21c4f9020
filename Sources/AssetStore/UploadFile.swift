package import AssetStorage
import FileIO
import Foundation
package import NIOCore
package import RecordModel
package import StorageContract
import Synchronization
import SystemCrypto

/// The file of one asset during its upload.
///
///     recover… -> append… -> finish
///                 makeDurable…
///
/// Bytes are hashed as they are written. A step is half a chunk, counted from the first byte of the
/// asset. `makeDurable` syncs the bytes up to the last end of a step, then writes and syncs a row
/// with their hash. While one step is synced the next one is written, but no more, so a crash loses
/// a chunk at most. Any call may fail. Bytes that were durable stay durable, and a later `recover`
/// finds them.
///
/// Every call blocks and must be made on the store's threads, one at a time (`FileLane`). Only
/// `makeDurable` may be called at any time: bytes are received and hashed while the disk takes
/// earlier ones.
package final class UploadFile: Sendable {
    /// The result of an upload's last step.
    package enum Finish: Hashable, Sendable {
        /// All bytes are durable and have the expected hash.
        case complete
        /// The hash differs; the bytes were removed.
        case differs
    }

    private struct State {
        /// Keeps other servers from the file; `nil` if there are none, or before the first step.
        var lock: OpenFile?
        var recovery: UploadRecovery?
        var writer: UploadWriter
        /// Number of bytes that are durable and have a row, or were found by the recovery.
        var durable: Int64 = 0
        var isClosed = false
        /// A write failed.
        ///
        /// Later bytes cannot be written before a recovery.
        var hasGap = false
    }

    /// Used by the thread that makes bytes durable.
    ///
    /// Locked before `state`.
    private struct Rows {
        var file: OpenFile?
        var count = 0
        /// False if an earlier upload left no file of rows, and this one has made none.
        var mayExist = true
        var hasSyncedFolder = false
    }

    package let number: AssetNumber
    package let asset: Asset
    private let folder: AssetFolder
    private let chunks: AssetStoreConfiguration.Chunks
    private let state: Mutex<State>
    private let rows = Mutex(Rows())

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
        let writer = UploadWriter(
            number: number,
            asset: asset,
            folder: folder,
            chunks: chunks,
            threads: threads
        )
        self.state = Mutex(State(writer: writer))
    }

    /// Finds the bytes of an earlier upload, one step per call.
    ///
    /// Nothing is read after the upload was closed. Fails with `full` if the rest does not fit.
    ///
    /// - Returns: The offset of the first missing byte, or `nil` if it must be called again.
    package func recover() throws(AssetStoreError) -> Int64? {
        try self.withRows { rows, state throws(AssetStoreError) in
            guard !state.isClosed else { throw .ended }
            if state.lock == nil { state.lock = try self.folder.lock(self.number) }
            if state.recovery == nil {
                guard let recovery = try self.startRecovery() else {
                    try self.folder.checkRoom(for: self.asset.size)
                    rows.mayExist = false
                    return 0
                }
                state.recovery = recovery
            }
            guard try state.recovery?.step() == true, let recovery = state.recovery else { return nil }
            state.recovery = nil
            try self.folder.checkRoom(for: self.asset.size - recovery.offset)
            state.writer.goOn(behind: recovery)
            state.hasGap = false
            state.durable = recovery.offset
            rows.count = recovery.rowCount
            return recovery.offset
        }
    }

    /// Bytes that `recover` has checked so far.
    package var recoveredBytes: Int64 { self.state.withLock { $0.recovery?.offset ?? $0.writer.offset } }

    /// Writes the next bytes, and no byte beyond the size of the asset.
    ///
    /// Waits for the disk if it is a chunk behind. Nothing is written after the upload was closed,
    /// or after a failed write: later bytes would be at the wrong offset.
    ///
    /// - Returns: How many bytes from the beginning are durable.
    package func append(_ pieces: [ByteBuffer]) throws(AssetStoreError) -> Int64 {
        try self.folder.checkRoom(for: 0)
        var rest = pieces[...]
        while !rest.isEmpty {
            let isChunkAhead = try self.withState { state throws(AssetStoreError) in
                guard !state.isClosed, !state.hasGap else { throw .ended }
                let end = min(state.writer.stepEndOffset, state.durable + self.chunkBytes)
                state.hasGap = true
                try state.writer.write(rest.take(Int(end - state.writer.offset)))
                state.hasGap = false
                return state.writer.offset - state.durable >= self.chunkBytes
            }
            if isChunkAhead { try self.makeDurable() }
        }
        return self.state.withLock { $0.durable }
    }

    private var chunkBytes: Int64 { Int64(self.chunks.bytes) }

    /// Whether a sync is worth its cost: the end of a step was written and is not durable.
    ///
    /// With `isDue`, `bytesMin` bytes without an end of a step are enough.
    package func wantsToBeDurable(isDue: Bool) -> Bool {
        self.state.withLock { state in
            guard state.writer.isOpen else { return false }
            let offset = state.writer.offset
            let isWorthIt =
                offset < self.asset.size
                && offset - state.durable >= Int64(min(self.chunks.bytesMin, self.chunks.bytes))
            return state.writer.hasStepEnd || (isDue && isWorthIt)
        }
    }

    /// Syncs the bytes up to the last end of a step, or all if no step has ended, then writes their
    /// row.
    ///
    /// Does nothing if the upload has ended.
    ///
    /// - Returns: How many bytes from the beginning are durable.
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
    /// - Durability: if it returns `complete`, bytes and directory entry are on disk, and no row is
    ///   needed any more.
    package func finish() throws(AssetStoreError) -> Finish {
        try self.withRows { rows, state throws(AssetStoreError) in
            let all = try state.writer.all()
            precondition(all.offset == self.asset.size)
            guard all.hash.value == self.asset.sha256 else {
                state.writer.close()
                rows.file = nil
                try self.folder.unlinkAll(self.number)
                state.lock = nil
                return .differs
            }
            try self.sync(all.file, state.durable..<self.asset.size)
            try self.folder.syncFolder(of: self.number)
            state.writer.close()
            rows.file = nil
            if rows.mayExist { try self.folder.unlinkIfThere(self.folder.rows(self.number)) }
            state.lock = nil
            return .complete
        }
    }

    /// Ends the upload before its last byte.
    ///
    /// Keeps the received bytes as far as possible, and closes the file.
    package func close() {
        self.rows.withLock { rows in
            // If this fails, the upload continues from an earlier offset.
            while self.wantsToBeDurable(isDue: true), (try? self.makeDurable(&rows)) != nil {}
            self.end(&rows)
        }
    }

    /// Ends the upload and removes its bytes.
    package func discard() {
        self.rows.withLock { rows in
            // No other server may open the file between its end and its removal.
            let lock = self.end(&rows)
            // If this fails, the sweep removes the files.
            try? self.folder.unlinkAll(self.number)
            withExtendedLifetime(lock) {}
        }
    }

    /// Closes all files, and returns the lock of the upload.
    @discardableResult
    private func end(_ rows: inout Rows) -> OpenFile? {
        rows.file = nil
        return self.state.withLock { state in
            state.writer.close()
            state.recovery = nil
            state.isClosed = true
            defer { state.lock = nil }
            return state.lock
        }
    }

    // MARK: - Steps

    private func startRecovery() throws(AssetStoreError) -> UploadRecovery? {
        do throws(AssetStoreError) {
            try self.folder.pass(.open)
            let file = try self.folder.open(self.number)
            return try UploadRecovery(
                file: file,
                rows: self.storedRows(),
                asset: self.asset,
                isKept: !self.chunks.isLarge(self.asset)
            )
        } catch .missing {
            return nil
        }
    }

    private func storedRows() throws(AssetStoreError) -> [ChunkRow] {
        do throws(AssetStoreError) {
            let file = try self.folder.open(self.folder.rows(self.number), .read)
            let count = try onFile { () throws(FileError) in Int(try file.size()) }
            var bytes = [UInt8](repeating: 0, count: count)
            var failure: FileError?
            // SAFETY: the bytes are used within the call only.
            let read = bytes.withUnsafeMutableBytes { buffer in
                do throws(FileError) {
                    return try file.read(into: buffer, at: 0)
                } catch {
                    failure = error
                    return count
                }
            }
            if let failure { throw AssetStoreError(failure) }
            return ChunkRow.decode(Array(bytes.prefix(read)))
        } catch .missing {
            return []
        }
    }

    private func makeDurable(_ rows: inout Rows) throws(AssetStoreError) {
        let (written, durable) = self.state.withLock { ($0.writer.written, $0.durable) }
        // The last bytes need no row: the asset's own hash proves them.
        guard let written, written.offset > durable, written.offset < self.asset.size else { return }
        try self.sync(written.file, durable..<written.offset)
        let rowFile: OpenFile
        if let open = rows.file {
            rowFile = open
        } else {
            rows.mayExist = true
            rowFile = try self.folder.open(self.folder.rows(self.number), .write)
            let size = Int64(rows.count * ChunkRow.bytes)
            try onFile { () throws(FileError) in try rowFile.cut(to: size) }
            rows.file = rowFile
        }
        let row = ChunkRow(offset: written.offset, sha256: written.hash.value)
        try self.folder.pass(.writeRow)
        try Self.write(row, to: rowFile, at: Int64(rows.count * ChunkRow.bytes))
        try self.folder.pass(.syncRows)
        try onFile { () throws(FileError) in try rowFile.sync() }
        if !rows.hasSyncedFolder {
            try self.folder.syncFolder(of: self.number)
            rows.hasSyncedFolder = true
        }
        rows.count += 1
        self.state.withLock { state in
            state.durable = written.offset
            // Another end of a step may have been written meanwhile.
            state.writer.becameDurable(through: written.offset)
        }
    }

    private func sync(_ file: OpenFile, _ range: Range<Int64>) throws(AssetStoreError) {
        try self.folder.pass(.sync)
        try onFile { () throws(FileError) in try file.sync() }
        // A file system that supports only buffered writes must not keep the bytes in the page
        // cache.
        if self.chunks.isLarge(self.asset) { file.release(range) }
    }

    private static func write(
        _ row: ChunkRow,
        to file: OpenFile,
        at offset: Int64
    ) throws(AssetStoreError) {
        var failure: FileError?
        // SAFETY: the bytes are used within the call only.
        row.encoded.withUnsafeBytes { bytes in
            do throws(FileError) {
                try file.write(bytes, at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw AssetStoreError(failure) }
    }

    private func withState<Result: Sendable>(
        _ body: (inout sending State) throws(AssetStoreError) -> Result
    ) throws(AssetStoreError) -> Result {
        try self.state.withLock { state throws(AssetStoreError) in try body(&state) }
    }

    /// Runs while no other thread makes bytes durable.
    private func withRows<Result: Sendable>(
        _ body: (inout Rows, inout State) throws(AssetStoreError) -> Result
    ) throws(AssetStoreError) -> Result {
        try self.rows.withLock { rows throws(AssetStoreError) in
            try self.state.withLock { state throws(AssetStoreError) in try body(&rows, &state) }
        }
    }
}
