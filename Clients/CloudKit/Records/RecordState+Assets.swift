import Foundation
import RecordModel

extension RecordState {
    /// Returns the fields of a save that need an upload first: the user's files, and files
    /// of the server that this record does not name there yet.
    func assetsToUpload(for save: RecordSave) -> [AssetField] {
        guard self.table.hasAssets else { return [] }
        let named = self.namedAssets
        return save.changes.fields.compactMap { field in
            guard field.value.holdsAssets, let held = self.table.entry(field.name)?.assets else {
                return nil
            }
            let isNew = zip(field.value.assets, held).contains { value, _ in !named.contains(value) }
            guard isNew, field.value.assets.count == held.count else { return nil }
            return AssetField(key: field.name, value: field.value, assets: held)
        }
    }

    /// The assets that the record names on the server, as far as this instance knows.
    private var namedAssets: Set<Asset> { Set((self.serverBody ?? .empty).fields.flatMap(\.value.assets)) }
}

/// A field of a save that holds assets.
struct AssetField: Sendable {
    var key: String
    /// The value in the save, with `Asset.unread` for files that were not read yet.
    var value: FieldValue
    /// The assets of the value, in order.
    var assets: [CKAsset]

    /// Returns the value with the contents of the files that are known.
    func value(known: [ObjectIdentifier: Asset]) -> FieldValue {
        let contents = zip(self.value.assets, self.assets).map { value, asset in
            known[ObjectIdentifier(asset)] ?? value
        }
        if case .assetList = self.value { return .assetList(contents) }
        return contents.first.map { .asset($0) } ?? self.value
    }
}

extension FieldTable.Entry {
    /// The assets of the field, in order.
    var assets: [CKAsset] {
        switch self.kept?.object {
        case let asset as CKAsset: [asset]
        case let list as NSArray: (0..<list.count).compactMap { list.object(at: $0) as? CKAsset }
        default: []
        }
    }
}

extension FieldValue {
    /// The contents that an asset or a list of assets names; empty for other values.
    var assets: [Asset] {
        switch self {
        case .asset(let asset): [asset]
        case .assetList(let assets): assets
        default: []
        }
    }
}

extension FieldTable {
    /// Assets of the server without a file on this machine.
    var assetsWithoutFiles: [CKAsset] {
        self.kept.flatMap { entry -> [CKAsset] in
            guard case .success(let value) = entry.value, value.holdsAssets else { return [] }
            return entry.assets.filter { $0.content != nil && $0.fileURL == nil }
        }
    }
}
