package import AssetStorage
import RecordModel
package import RecordStore
package import StorageContract

/// The result of reading all files of assets.
package struct VerifiedAssets: Hashable, Sendable {
    package var assets = 0
    /// Size of all assets, as recorded.
    package var bytes: Int64 = 0
    package var damaged: [DamagedAsset] = []

    package init() {}
}

package struct DamagedAsset: Hashable, Sendable {
    package var stored: StoredAsset
    package var condition: AssetCondition
}

/// Reads all assets of a store, a page of rows at a time, and compares their hashes.
package struct AssetVerification {
    private static let pageMax = 1_000

    private let registry: AssetRegistry
    private let files: AssetFiles
    private let pace: WorkPace

    /// Reads no more than `mebibytesPerSecond`; 0 is no bound.
    package init(of store: Store, files: AssetFiles, mebibytesPerSecond: Int = 0) {
        self.init(of: store, files: files, pace: WorkPace(mebibytesPerSecond: mebibytesPerSecond))
    }

    init(of store: Store, files: AssetFiles, pace: WorkPace) {
        self.registry = store.assets
        self.files = files
        self.pace = pace
    }

    /// Reads all files; `progress` gets how many bytes were read, and how many there are.
    package func run(progress: (_ done: Int64, _ total: Int64) -> Void) throws(StoreError) -> VerifiedAssets {
        var report = VerifiedAssets()
        var total: Int64 = 0
        try self.visit { (stored) throws(StoreError) in total += stored.asset.size }
        var done: Int64 = 0
        try self.visit { (stored) throws(StoreError) in
            let condition = self.files.verify(stored) { bytes in
                done += Int64(bytes)
                progress(done, total)
                self.pace.block(after: bytes)
            }
            // A running server may have removed it meanwhile.
            if condition != .intact, try !self.isStillThere(stored) { return }
            report.assets += 1
            report.bytes += stored.asset.size
            if condition != .intact {
                report.damaged.append(DamagedAsset(stored: stored, condition: condition))
            }
        }
        return report
    }

    private func visit(_ body: (StoredAsset) throws(StoreError) -> Void) throws(StoreError) {
        var last: AssetNumber?
        while true {
            let page = try self.registry.stored(after: last, limit: Self.pageMax)
            for stored in page { try body(stored) }
            guard page.count == Self.pageMax else { return }
            last = page.last?.number
        }
    }

    private func isStillThere(_ stored: StoredAsset) throws(StoreError) -> Bool {
        let before = AssetNumber(rawValue: stored.number.rawValue &- 1)
        return try self.registry.stored(after: before, limit: 1).first?.number == stored.number
    }
}
