package import AssetStorage
import FileIO
import RecordModel
package import StorageContract
import SystemCrypto

extension AssetCondition {
    init(_ error: AssetStoreError) {
        switch error {
        case .missing: self = .missing
        case .full, .busy, .ended, .tooManyOpenFiles: self = .unreadable(code: 0)
        case .failed(let code): self = .unreadable(code: code)
        }
    }
}

extension AssetStore {
    /// The path of an asset's file in the store's folder.
    package func name(of number: AssetNumber) -> String { AssetFolder.relativePath(number) }

    /// Reads all bytes of a complete asset, and compares their hash.
    ///
    /// Blocks; may be called without `start`. `progress` gets the number of bytes since the last
    /// call.
    package func verify(_ stored: StoredAsset, progress: (Int) -> Void) -> AssetCondition {
        do throws(AssetStoreError) {
            let file = try self.folder.open(stored.number)
            return try onFile { () throws(FileError) in
                let size = try file.size()
                guard size == stored.asset.size else { return .wrongSize(size) }
                var hash = SHA256()
                guard try file.hash(0..<size, into: &hash, progress: progress) else {
                    return .wrongSize(try file.size())
                }
                return hash.value == stored.asset.sha256 ? .intact : .differs
            }
        } catch {
            return AssetCondition(error)
        }
    }
}
