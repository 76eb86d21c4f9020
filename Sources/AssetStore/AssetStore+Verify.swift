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

    /// Opens the file of a complete asset to be read and compared with its hash.
    ///
    /// May be called without `start`.
    package func verification(of stored: StoredAsset) -> AssetFileVerification {
        do throws(AssetStoreError) {
            let file = try self.folder.open(stored.number)
            let size = try onFile { () throws(FileError) in try file.size() }
            guard size == stored.asset.size else {
                return AssetFileVerification(stored, condition: .wrongSize(size))
            }
            return AssetFileVerification(stored, file: file)
        } catch {
            return AssetFileVerification(stored, condition: AssetCondition(error))
        }
    }
}

/// A file of an asset that is read piece by piece, and compared with its hash at the end.
package struct AssetFileVerification {
    private let stored: StoredAsset
    private let file: OpenFile?
    private var hash = SHA256()
    private var offset: Int64 = 0
    /// `nil` until all was read.
    package private(set) var condition: AssetCondition?

    init(_ stored: StoredAsset, file: OpenFile) {
        self.stored = stored
        self.file = file
    }

    init(_ stored: StoredAsset, condition: AssetCondition) {
        self.stored = stored
        self.file = nil
        self.condition = condition
    }

    /// Reads at most so many bytes, and returns how many; blocks.
    package mutating func read(bytesMax: Int) -> Int {
        guard let file, self.condition == nil else { return 0 }
        let end = min(self.stored.asset.size, self.offset + Int64(bytesMax))
        do throws(AssetStoreError) {
            let range = self.offset..<end
            var hash = self.hash
            let isWhole = try onFile { () throws(FileError) in try file.hash(range, into: &hash) }
            self.hash = hash
            guard isWhole else {
                self.condition = .wrongSize(try onFile { () throws(FileError) in try file.size() })
                return 0
            }
        } catch {
            self.condition = AssetCondition(error)
            return 0
        }
        let count = Int(end - self.offset)
        self.offset = end
        if end == self.stored.asset.size {
            self.condition = self.hash.value == self.stored.asset.sha256 ? .intact : .differs
        }
        return count
    }
}
