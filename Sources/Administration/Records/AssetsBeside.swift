package import AssetStorage
import FileIO
import Foundation
import RecordJSON
package import RecordModel
import RecordStore
import StorageContract

/// A folder beside a file of records, with the files of their assets.
///
/// A file has the name of its SHA-256 in hexadecimal, so equal assets share a file.
package struct AssetsBeside: Sendable {
    package let path: String
    private let database: AdministeredDatabase
    private let files: AssetFiles

    package init(path: String, database: AdministeredDatabase) {
        self.path = path
        self.database = database
        self.files = AssetFiles(in: database.folder.assetsPath)
    }

    private func file(of asset: Asset) -> String { self.path + "/" + asset.hexadecimal }

    /// Whether the folder has a file of the asset's size.
    func hasFile(of asset: Asset) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: self.file(of: asset))
        return (attributes?[.size] as? NSNumber)?.int64Value == asset.size
    }

    // MARK: Export

    /// Copies the files of a record's assets into the folder, and compares their hashes.
    ///
    /// - Returns: `false` if the record has changed since it was read.
    package func copyOut(_ record: Record) async throws -> Bool {
        let missing = Set(record.body.namedAssets.map(\.asset)).filter { !self.hasFile(of: $0) }
        guard !missing.isEmpty else { return true }
        let found: [StoredAsset]
        do {
            found = try await self.database.assets(missing.map(\.sha256), of: record.id)
        } catch StoreError.assetNotNamed, StoreError.recordMissing {
            return false
        }
        try self.makeFolder()
        for stored in found { try self.copyOut(stored) }
        return true
    }

    private func copyOut(_ stored: StoredAsset) throws(AssetFolderError) {
        let source = self.database.folder.assetsPath + "/" + self.files.name(of: stored.number)
        let target = self.file(of: stored.asset)
        let partial = target + ".unfinished"
        let copy: FileCopy.Outcome
        do throws(FileCopy.Failure) {
            copy = try FileCopy.copy(source, to: partial) { _ in }
        } catch {
            switch error {
            case .source: throw .isDamaged(source)
            case .target:
                throw .cannotWrite(partial)
            }
        }
        guard copy.bytes == stored.asset.size, copy.sha256 == stored.asset.sha256 else {
            unlink(partial)
            throw .isDamaged(source)
        }
        guard rename(partial, target) == 0 else {
            throw .cannotMake(target)
        }
    }

    private func makeFolder() throws(AssetFolderError) {
        do {
            try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
        } catch {
            throw .cannotMakeFolder(self.path, reason: FileError.reason(error))
        }
    }

    // MARK: Import

    /// Brings the assets of a record into the store, which may then be saved.
    ///
    /// - Returns: The fault of one of them; `nil` if all are there.
    func copyIn(_ changes: RecordBody, in zone: ZoneID) async throws -> AssetFault? {
        for asset in Set(changes.namedAssets.map(\.asset)) {
            if let fault = try await self.copyIn(asset, in: zone) { return fault }
        }
        return nil
    }

    private func copyIn(_ asset: Asset, in zone: ZoneID) async throws -> AssetFault? {
        let registry = self.database.store.assets
        let statuses = try await self.database.retrying {
            await withCheckedContinuation { continuation in
                registry.begin([asset], in: zone, for: self.database.requester) {
                    continuation.resume(returning: $0)
                }
            }
        }
        guard let number = statuses.first?.number else { return nil }
        defer { registry.release([number]) }
        guard self.hasFile(of: asset) else {
            // The row may be that of a client which is sending the bytes: it goes after the grace time.
            return .isMissing(asset, folder: self.path)
        }
        do throws(AssetStoreError) {
            try self.files.makeFolder()
            let stored = StoredAsset(number: number, asset: asset)
            let condition = try self.files.insert(fileAt: self.file(of: asset), as: stored)
            guard condition == .intact else {
                registry.abandon(number)
                return .isWrong(asset, condition)
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
        return nil
    }
}

/// A fault of the file of an asset that a record names.
package enum AssetFault: Hashable, Sendable {
    /// The folder has no file of the asset's name and size.
    case isMissing(Asset, folder: String)
    case isWrong(Asset, AssetCondition)
}

/// Why files of assets cannot be copied.
package enum AssetFolderError: Error, Hashable, Sendable {
    /// The path of a file in the store.
    case isDamaged(String)
    case cannotWrite(String)
    case cannotMake(String)
    case cannotMakeFolder(String, reason: String)
    /// The folder of the store's assets.
    case cannotStore(String, AssetStoreError)
}
