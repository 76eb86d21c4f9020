import AssetStorage
import RecordModel
import RecordStore
import StorageContract

/// Brings assets from a file with many into the store.
struct AssetInflow {
    let database: AdministeredDatabase
    let files: AssetFiles
    let path: String

    func copyIn(_ asset: Asset, _ range: Range<Int64>) async throws {
        let registry = self.database.store.assets
        let statuses = try await self.database.retrying {
            await withCheckedContinuation { continuation in
                registry.begin([asset], in: nil, for: self.database.requester) {
                    continuation.resume(returning: $0)
                }
            }
        }
        guard let number = statuses.first?.number else { return }
        defer { registry.release([number]) }
        do throws(AssetStoreError) {
            try self.files.makeFolder()
            let stored = StoredAsset(number: number, asset: asset)
            let condition = try self.files.insert(fileAt: self.path, range, as: stored)
            guard condition == .intact else {
                registry.abandon(number)
                throw AssetStoreError.missing
            }
        } catch {
            registry.abandon(number)
            throw AssetFolderError.cannotStore(self.database.folder.assetsPath, error)
        }
        try await self.database.retrying {
            await withCheckedContinuation { continuation in
                registry.complete(number) { continuation.resume(returning: $0) }
            }
        }
    }
}
