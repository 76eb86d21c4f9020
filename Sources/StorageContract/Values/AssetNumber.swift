package import RecordModel

/// The number of an asset of a store, after which its file is called; never used again.
package struct AssetNumber: RawRepresentable, Hashable, Sendable, Comparable {
    /// From 1.
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: AssetNumber, right: AssetNumber) -> Bool { left.rawValue < right.rawValue }
}

/// The state of an upload, as far as rows know it.
package enum UploadStatus: Hashable, Sendable {
    /// The database has it: nothing is to be sent.
    case complete
    /// Bytes are missing; how many, its file knows.
    case incomplete(AssetNumber)

    package var number: AssetNumber? {
        guard case .incomplete(let number) = self else { return nil }
        return number
    }
}

/// An asset with complete bytes.
package struct StoredAsset: Hashable, Sendable {
    package var number: AssetNumber
    package var asset: Asset

    package init(number: AssetNumber, asset: Asset) {
        self.number = number
        self.asset = asset
    }
}
