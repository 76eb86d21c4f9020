/// A file, identified by its contents.
///
/// - Source: `Protocol/README.md`, section 5.12.
package struct Asset: Hashable, Sendable {
    package static let hashBytes = 32

    /// SHA-256 of all bytes: 32 bytes.
    package var sha256: [UInt8]
    /// Number of bytes.
    package var size: Int64

    package init(sha256: [UInt8], size: Int64) {
        self.sha256 = sha256
        self.size = size
    }
}

/// Uploads the bytes of assets, before a record references them.
///
/// Items are numbered as `assets`.
package struct UploadAssets: Hashable, Sendable {
    package var scope: DatabaseScope
    /// Without repetition.
    package var assets: [Asset]
    /// In the shared database: the other user's zone with the record that will reference them.
    package var zone: ZoneID?

    package init(scope: DatabaseScope, assets: [Asset], zone: ZoneID? = nil) {
        self.scope = scope
        self.assets = assets
        self.zone = zone
    }
}

/// Downloads bytes of assets that one record references.
///
/// Items are numbered as `ranges`, and sent in their order.
package struct DownloadAssets: Hashable, Sendable {
    package var scope: DatabaseScope
    package var record: RecordID
    package var ranges: [AssetRange]

    package init(scope: DatabaseScope, record: RecordID, ranges: [AssetRange]) {
        self.scope = scope
        self.record = record
        self.ranges = ranges
    }
}

/// A range of bytes of one asset.
package struct AssetRange: Hashable, Sendable {
    /// SHA-256 of the whole asset: 32 bytes.
    package var sha256: [UInt8]
    /// Offset of the first byte; at most the size.
    package var offset: Int64
    /// A length beyond the end, or `nil`, means all bytes to the end.
    package var length: Int64?

    package init(sha256: [UInt8], offset: Int64 = 0, length: Int64? = nil) {
        self.sha256 = sha256
        self.offset = offset
        self.length = length
    }
}
