import FileIO
import RecordClient
import RecordModel
import SystemCrypto

/// The bytes of a file, generated whenever they are needed.
///
/// All files differ, and none is stored.
struct AssetBytes: Sendable {
    private let seed: UInt64

    init(worker: Int, key: Int, version: UInt64) {
        self.seed = SplitMix64.mix(UInt64(worker) << 40 ^ UInt64(key) << 20 ^ version)
    }

    /// Fills memory with the bytes from an offset on.
    func fill(_ memory: FileMemory, from offset: Int64) {
        var block = UInt64(offset) / 8
        var word = SplitMix64.mix(self.seed &+ block)
        for index in memory.indices {
            let position = UInt64(offset) + UInt64(index)
            if position / 8 != block {
                block = position / 8
                word = SplitMix64.mix(self.seed &+ block)
            }
            memory[index] = UInt8(truncatingIfNeeded: word >> (8 * (position % 8)))
        }
    }

    func asset(size: Int) -> Asset {
        var hash = SHA256()
        var bytes = [UInt8](repeating: 0, count: min(size, 65_536))
        for offset in stride(from: 0, to: size, by: bytes.count) {
            let count = min(bytes.count, size - offset)
            // SAFETY: the memory is the array's, for the time of the call.
            bytes.withUnsafeMutableBytes { memory in
                let piece = FileMemory(rebasing: memory[..<count])
                self.fill(piece, from: Int64(offset))
                hash.add(FileBytes(piece))
            }
        }
        return Asset(sha256: hash.value, size: Int64(size))
    }
}
