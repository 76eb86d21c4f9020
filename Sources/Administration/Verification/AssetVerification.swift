package import AssetStorage
import AssetStore
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
package struct AssetVerification: Sendable {
    private static let pageMax = 1_000
    private static let pieceBytes = 1_048_576

    /// The number behind which it begins.
    package var after = AssetNumber(rawValue: 0)
    /// Gets how many bytes were read, and how many there are; `nil` to leave the sum out.
    package var progress: (@Sendable (_ done: Int64, _ total: Int64) -> Void)?
    /// Gets the last asset that was compared, and what was found so far.
    package var reached: @Sendable (AssetNumber, VerifiedAssets) async -> Void = { _, _ in }

    private let registry: AssetRegistry
    private let files: AssetFiles
    private let pace: WorkPace

    package init(of store: Store, files: AssetFiles) {
        self.init(of: store, files: files, pace: WorkPace(mebibytesPerSecond: 0))
    }

    init(of store: Store, files: AssetFiles, pace: WorkPace) {
        self.registry = store.assets
        self.files = files
        self.pace = pace
    }

    /// Reads all files.
    ///
    /// - Throws: `StoreError`; `CancellationError`.
    package func run() async throws -> VerifiedAssets {
        var report = VerifiedAssets()
        let total = try self.progress == nil ? 0 : self.totalBytes()
        var done: Int64 = 0
        var last = self.after
        while true {
            let page = try self.registry.stored(after: last, limit: Self.pageMax)
            for stored in page {
                try await self.verify(stored, total, &done, &report)
                await self.reached(stored.number, report)
            }
            guard page.count == Self.pageMax, let end = page.last?.number else { return report }
            last = end
        }
    }

    private func totalBytes() throws(StoreError) -> Int64 {
        var (total, last): (Int64, AssetNumber) = (0, self.after)
        while true {
            let page = try self.registry.stored(after: last, limit: Self.pageMax)
            total += page.reduce(0) { $0 + $1.asset.size }
            guard page.count == Self.pageMax, let end = page.last?.number else { return total }
            last = end
        }
    }

    private func verify(
        _ stored: StoredAsset,
        _ total: Int64,
        _ done: inout Int64,
        _ report: inout VerifiedAssets
    ) async throws {
        var file = self.files.verification(of: stored)
        while file.condition == nil {
            let bytes = file.read(bytesMax: Self.pieceBytes)
            done += Int64(bytes)
            self.progress?(done, total)
            try await self.pace.wait(after: bytes)
        }
        let condition = file.condition ?? .intact
        // A running server may have removed it meanwhile.
        if condition != .intact, try !self.isStillThere(stored) { return }
        report.assets += 1
        report.bytes += stored.asset.size
        if condition != .intact {
            report.damaged.append(DamagedAsset(stored: stored, condition: condition))
        }
    }

    private func isStillThere(_ stored: StoredAsset) throws(StoreError) -> Bool {
        let before = AssetNumber(rawValue: stored.number.rawValue &- 1)
        return try self.registry.stored(after: before, limit: 1).first?.number == stored.number
    }
}
