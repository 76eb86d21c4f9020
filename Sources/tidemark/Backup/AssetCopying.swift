import AssetStore
import RecordStore
import SQLiteEngine

/// Copies the files of all assets that the copy of a store has, from one folder to another.
struct AssetCopying {
    struct Damaged {
        let stored: StoredAsset
        let condition: AssetCondition
    }

    private static let pageMax = 1_000

    let source: AssetStore
    let target: AssetStore
    /// In the order in which they came.
    private(set) var copied: [AssetNumber] = []

    init(from source: String, to target: String) {
        self.source = AssetStore(AssetStoreConfiguration(directory: source))
        self.target = AssetStore(AssetStoreConfiguration(directory: target))
    }

    /// Copies what the target does not have yet.
    ///
    /// An asset that no record names and that has no intact file is left out of the copy of the store.
    ///
    /// - Returns: Those that a record names and that have no intact file.
    mutating func copy(namedBy rows: DatabaseCopy, _ bar: inout ProgressBar) throws -> [Damaged] {
        try self.target.makeFolder()
        var damaged: [Damaged] = []
        var last: AssetNumber?
        while true {
            let page = try rows.assets(after: last, limit: Self.pageMax)
            for stored in page {
                guard !self.target.hasFile(of: stored) else { continue }
                let condition = try self.source.copy(stored, to: self.target) { bar.add($0) }
                if condition == .intact {
                    self.copied.append(stored.number)
                } else if try !rows.forgetUnnamed(stored.number) {
                    damaged.append(Damaged(stored: stored, condition: condition))
                }
            }
            guard page.count == Self.pageMax else { return damaged }
            last = page.last?.number
        }
    }

    /// Removes the files that were copied for an earlier copy of the store, and that this one does not have.
    func removeFiles(notIn rows: DatabaseCopy) throws {
        for number in self.copied where try !rows.has(number) { try self.target.removeFile(of: number) }
    }

    func report(_ damaged: [Damaged]) -> [AssetReport.Damaged] {
        damaged.map { AssetReport.Damaged($0.stored, $0.condition, in: self.source) }
    }
}
