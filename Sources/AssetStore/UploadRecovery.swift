import Crypto
import RecordModel

/// Finds out how much of a file is what was sent: hashes it, and compares at the places that rows name.
///
/// In steps, so that a large file does not keep a thread to itself.
struct UploadRecovery {
    /// Bytes that one step reads.
    static let stepBytes = 8 * 1_024 * 1_024

    /// The last place whose hash agrees; bytes behind it are not to be used.
    private(set) var offset: Int64 = 0
    /// Of the bytes before `offset`.
    private(set) var hash = SHA256()
    /// Rows of the side file up to that place.
    private(set) var rowCount = 0

    private let file: OpenFile
    private let isKept: Bool
    /// With their numbers in the side file; ascending.
    private var rest: ArraySlice<(number: Int, row: ChunkRow)>
    private var position: Int64 = 0
    private var running = SHA256()

    /// `rows` are those of the side file, right or wrong; `isKept`: what was read stays in the kernel's memory.
    init(file: OpenFile, rows: [ChunkRow], asset: Asset, isKept: Bool) throws(AssetStoreError) {
        self.file = file
        self.isKept = isKept
        let size = try file.size()
        var candidates: [(number: Int, row: ChunkRow)] = []
        for (number, row) in rows.enumerated()
        where row.offset > candidates.last?.row.offset ?? 0 && row.offset <= min(size, asset.size - 1) {
            candidates.append((number, row))
        }
        // All bytes may have come before anybody could note it: then the asset's own hash tells.
        if size >= asset.size {
            candidates.append((rows.count - 1, ChunkRow(offset: asset.size, sha256: asset.sha256)))
        }
        self.rest = candidates[...]
    }

    /// Reads on.
    ///
    /// `true`: there is no place left to look at.
    mutating func step() throws(AssetStoreError) -> Bool {
        let end = self.position + Int64(Self.stepBytes)
        while let next = self.rest.first, self.position < end {
            let place = min(next.row.offset, end)
            guard try self.file.hash(self.position..<place, into: &self.running) else { return true }
            if !self.isKept { self.file.release(self.position..<place) }
            self.position = place
            guard self.position == next.row.offset else { continue }
            self.rest.removeFirst()
            guard self.running.finalize().elementsEqual(next.row.sha256) else { continue }
            self.offset = self.position
            self.hash = self.running
            self.rowCount = next.number + 1
        }
        return self.rest.isEmpty
    }
}
