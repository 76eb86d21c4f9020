import Crypto
import RecordModel
package import RecordStore

/// What a look at the file of an asset found.
package enum AssetCondition: Hashable, Sendable {
    case intact
    case missing
    /// It has another number of bytes.
    case wrongSize(Int64)
    /// It has the bytes of another hash.
    case differs
    /// The system did not let it be read, with its number of the error.
    case unreadable(errno: Int32)
}

extension AssetStore {
    /// Where the file of an asset is, in the store's folder.
    package func name(of number: AssetNumber) -> String { AssetFolder.relativePath(number) }

    private static let verifyBytes = 1_024 * 1_024

    /// Reads all bytes of an asset that is complete, and compares their hash.
    ///
    /// Blocks; may be called without `start`. `progress` is called with the number of bytes that were read since the last call.
    package func verify(_ stored: StoredAsset, progress: (Int) -> Void) -> AssetCondition {
        do throws(AssetStoreError) {
            let file = try self.open(stored.number)
            let size = try file.size()
            guard size == stored.asset.size else { return .wrongSize(size) }
            let hash = try Self.hash(of: file, size: size, progress: progress)
            return hash.elementsEqual(stored.asset.sha256) ? .intact : .differs
        } catch {
            switch error {
            case .missing: return .missing
            case .diskFull: return .unreadable(errno: 0)
            case .failed(let errno): return .unreadable(errno: errno)
            }
        }
    }

    private static func hash(
        of file: OpenFile,
        size: Int64,
        progress: (Int) -> Void
    ) throws(AssetStoreError) -> SHA256.Digest {
        var hash = SHA256()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: self.verifyBytes, alignment: 16)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while offset < size {
            let read = try file.read(into: buffer, at: offset)
            if read == 0 { break }
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<read]))
            offset += Int64(read)
            progress(read)
        }
        return hash.finalize()
    }
}
