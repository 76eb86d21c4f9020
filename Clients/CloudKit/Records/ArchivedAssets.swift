import Foundation
import RecordModel

/// The assets of a record in an archive: for each its field, the location of its file, and what the
/// server has of it.
///
///     assetKeys     the field of each asset; those of a list one after the other
///     assetFiles    the path of its file; empty if there is none here
///     assetHashes   the hash of what the server has; empty if nothing
///     assetSizes    bytes of that
///     assetKinds    bits: 1 the file is the user's, 2 the field is a list
struct ArchivedAssets {
    private struct Entry {
        var key: String
        var asset: CKAsset
        var isInList: Bool
    }

    private let entries: [Entry]

    init(_ table: FieldTable) {
        self.entries = table.entries.flatMap { key, entry in
            let isInList = entry.kept?.object is NSArray
            return entry.assets.map { Entry(key: key, asset: $0, isInList: isInList) }
        }
    }

    init(_ archive: ArchivedBody) {
        let (keys, files) = (archive.texts("assetKeys"), archive.texts("assetFiles"))
        let hashes = archive.byteStrings("assetHashes")
        let (sizes, kinds) = (archive.integers("assetSizes"), archive.integers("assetKinds"))
        let count = [keys.count, files.count, hashes.count, sizes.count, kinds.count].min() ?? 0
        self.entries = (0..<count).map { index in
            let asset = ArchivedAsset(
                file: files[index],
                sha256: hashes[index],
                size: sizes[index],
                isLocal: kinds[index] & 1 != 0
            )
            return Entry(key: keys[index], asset: CKAsset(asset), isInList: kinds[index] & 2 != 0)
        }
    }

    var parts: [Field] {
        guard !self.entries.isEmpty else { return [] }
        let assets = self.entries.map(\.asset.archive)
        let kinds = zip(assets, self.entries).map { Int64(($0.isLocal ? 1 : 0) | ($1.isInList ? 2 : 0)) }
        return [
            Field("assetKeys", .stringList(self.entries.map(\.key))),
            Field("assetFiles", .stringList(assets.map(\.file))),
            Field("assetHashes", .bytesList(assets.map(\.sha256))),
            Field("assetSizes", .int64List(assets.map(\.size))),
            Field("assetKinds", .int64List(kinds)),
        ]
    }

    /// The values of fields that hold assets.
    var objects: [String: any __CKRecordObjCValue] {
        var objects: [String: any __CKRecordObjCValue] = [:]
        for (key, entries) in Dictionary(grouping: self.entries, by: \.key) {
            objects[key] =
                entries.first?.isInList == false
                ? entries.first?.asset : NSArray(array: entries.map(\.asset))
        }
        return objects
    }
}

extension ArchivedBody {
    fileprivate func byteStrings(_ name: String) -> [[UInt8]] {
        guard case .bytesList(let list) = self.value(name) else { return [] }
        return list
    }

    fileprivate func integers(_ name: String) -> [Int64] {
        guard case .int64List(let list) = self.value(name) else { return [] }
        return list
    }
}
