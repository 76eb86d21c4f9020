import AssetStorage
import RecordStore

/// Copies the files of all assets that the copy of a store names, from one folder to another.
struct AssetCopying {
    struct Damaged {
        let stored: StoredAsset
        let condition: AssetCondition
    }

    private static let pageMax = 1_000

    let source: AssetFiles
    let target: AssetFiles
    /// In the order of copying.
    private(set) var copied: [AssetNumber] = []

    init(from source: String, to target: String) {
        self.source = AssetFiles(in: source)
        self.target = AssetFiles(in: target)
    }

    /// Copies the assets that the target lacks.
    ///
    /// An asset without an intact file is removed from the copy of the store if no record names it.
    ///
    /// - Returns: Assets without an intact file that a record names.
    mutating func copy(namedBy rows: any StoreCopy, _ bar: inout ProgressBar) throws -> [Damaged] {
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

    /// Removes files that were copied for an earlier copy of the store, and that this one does not
    /// name.
    func removeFiles(notIn rows: any StoreCopy) throws {
        for number in self.copied where try !rows.has(number) { try self.target.removeFile(of: number) }
    }

    func report(_ damaged: [Damaged]) -> [AssetReport.Damaged] {
        damaged.map { AssetReport.Damaged($0.stored, $0.condition, in: self.source) }
    }
}
