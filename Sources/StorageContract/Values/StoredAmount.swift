/// Records and assets, counted.
package struct StoredAmount: Hashable, Sendable {
    package var records: Int64 = 0
    /// The bytes of their bodies.
    package var recordBytes: Int64 = 0
    /// Each once in a database: what records or histories name, and uploads that nothing names yet.
    package var assets: Int64 = 0
    package var assetBytes: Int64 = 0
    /// The bytes of all rows besides (`RowBytes`).
    ///
    /// These are the rows of records, indexes, tombstones, zones and outcomes of requests.
    package var rowBytes: Int64 = 0

    package init() {}

    package init(records: Int64, recordBytes: Int64, assets: Int64, assetBytes: Int64, rowBytes: Int64) {
        self.records = records
        self.recordBytes = recordBytes
        self.assets = assets
        self.assetBytes = assetBytes
        self.rowBytes = rowBytes
    }

    /// The bytes that quotas count.
    package var bytes: Int64 {
        self.recordBytes.adding(clamped: self.assetBytes).adding(clamped: self.rowBytes)
    }

    package mutating func add(_ other: StoredAmount) {
        self.records = self.records.adding(clamped: other.records)
        self.recordBytes = self.recordBytes.adding(clamped: other.recordBytes)
        self.assets = self.assets.adding(clamped: other.assets)
        self.assetBytes = self.assetBytes.adding(clamped: other.assetBytes)
        self.rowBytes = self.rowBytes.adding(clamped: other.rowBytes)
    }

    package var negated: StoredAmount {
        StoredAmount(
            records: 0 &- self.records,
            recordBytes: 0 &- self.recordBytes,
            assets: 0 &- self.assets,
            assetBytes: 0 &- self.assetBytes,
            rowBytes: 0 &- self.rowBytes
        )
    }
}
