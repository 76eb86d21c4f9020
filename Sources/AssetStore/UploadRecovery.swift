import AssetStorage
import FileIO
import RecordModel
import SystemCrypto

/// Finds the intact part of a file: hashes it, and compares at the offsets of the rows.
///
/// It works in steps, so that a large file does not occupy a thread.
struct UploadRecovery {
    /// Bytes that one step reads.
    static let stepBytes = 8 * 1_024 * 1_024

    /// The last offset with a hash that matches.
    ///
    /// Later bytes must not be used.
    private(set) var offset: Int64 = 0
    /// Hash of the bytes before `offset`.
    private(set) var hash = SHA256()
    /// Number of rows of the side file up to that offset.
    private(set) var rowCount = 0

    private let file: OpenFile
    private let isKept: Bool
    /// The remaining rows with their indexes in the side file, ascending.
    private var rest: ArraySlice<(number: Int, row: ChunkRow)>
    private var position: Int64 = 0
    private var running = SHA256()

    /// `rows` are those of the side file, valid or not.
    ///
    /// `isKept` says whether the bytes that are read stay in the page cache.
    init(file: OpenFile, rows: [ChunkRow], asset: Asset, isKept: Bool) throws(AssetStoreError) {
        self.file = file
        self.isKept = isKept
        let size = try onFile { () throws(FileError) in try file.size() }
        var candidates: [(number: Int, row: ChunkRow)] = []
        for (number, row) in rows.enumerated()
        where row.offset > candidates.last?.row.offset ?? 0 && row.offset <= min(size, asset.size - 1) {
            candidates.append((number, row))
        }
        // All bytes may have been written before their row. Then the asset's own hash decides.
        if size >= asset.size {
            candidates.append((rows.count - 1, ChunkRow(offset: asset.size, sha256: asset.sha256)))
        }
        self.rest = candidates[...]
    }

    /// Reads the next step.
    ///
    /// - Returns: Whether no offset is left to check.
    mutating func step() throws(AssetStoreError) -> Bool {
        let end = self.position + Int64(Self.stepBytes)
        while let next = self.rest.first, self.position < end {
            let stop = min(next.row.offset, end)
            let (file, range) = (self.file, self.position..<stop)
            let isWhole = try onFile { () throws(FileError) in try file.hash(range, into: &self.running) }
            guard isWhole else { return true }
            if !self.isKept { file.release(range) }
            self.position = stop
            guard self.position == next.row.offset else { continue }
            self.rest.removeFirst()
            guard self.running.value == next.row.sha256 else { continue }
            self.offset = self.position
            self.hash = self.running
            self.rowCount = next.number + 1
        }
        return self.rest.isEmpty
    }
}
