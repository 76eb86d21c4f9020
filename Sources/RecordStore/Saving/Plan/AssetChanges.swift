package import RecordModel

/// The assets that a record names and did not name before, and the other way round.
package struct AssetChanges: Hashable, Sendable {
    package struct Named: Hashable, Sendable {
        package var asset: Asset
        /// The first field that names it.
        package var field: String
    }

    /// In the order of fields.
    package private(set) var added: [Named] = []
    package private(set) var removed: [Asset] = []

    package static let none = AssetChanges()

    private init() {}

    /// Compares the bodies of a record; `old` is `nil` if there was no record.
    package init(from old: RecordBody?, to new: RecordBody) {
        let before = old?.namedAssets ?? []
        let after = new.namedAssets
        guard !before.isEmpty || !after.isEmpty else { return }
        let known = Set(before.map(\.asset))
        var kept: Set<Asset> = []
        for named in after {
            guard kept.insert(named.asset).inserted, !known.contains(named.asset) else { continue }
            self.added.append(named)
        }
        self.removed = known.filter { !kept.contains($0) }
    }
}

extension RecordBody {
    /// Every asset that a field names, some perhaps more than once.
    package var namedAssets: [AssetChanges.Named] {
        var named: [AssetChanges.Named] = []
        var cursor = FieldCursor(self.bytes)
        while let slice = cursor.nextTrusted() {
            guard slice.type == .asset || slice.type == .assetList else { continue }
            let field = self.name(of: slice)
            switch self.value(of: slice) {
            case .asset(let asset): named.append(AssetChanges.Named(asset: asset, field: field))
            case .assetList(let assets):
                named += assets.map { AssetChanges.Named(asset: $0, field: field) }
            default: continue
            }
        }
        return named
    }
}
