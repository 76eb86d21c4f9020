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

extension AssetCondition {
    init(_ error: AssetStoreError) {
        switch error {
        case .missing: self = .missing
        case .diskFull: self = .unreadable(errno: 0)
        case .failed(let errno): self = .unreadable(errno: errno)
        }
    }
}

extension AssetStore {
    /// Where the file of an asset is, in the store's folder.
    package func name(of number: AssetNumber) -> String { AssetFolder.relativePath(number) }

    /// Reads all bytes of an asset that is complete, and compares their hash.
    ///
    /// Blocks; may be called without `start`. `progress` is called with the number of bytes that were read since the last call.
    package func verify(_ stored: StoredAsset, progress: (Int) -> Void) -> AssetCondition {
        do throws(AssetStoreError) {
            let file = try self.open(stored.number)
            let size = try file.size()
            guard size == stored.asset.size else { return .wrongSize(size) }
            var hash = SHA256()
            guard try file.hash(0..<size, into: &hash, progress: progress) else {
                return .wrongSize(try file.size())
            }
            return hash.finalize().elementsEqual(stored.asset.sha256) ? .intact : .differs
        } catch {
            return AssetCondition(error)
        }
    }
}
