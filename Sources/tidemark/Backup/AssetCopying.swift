import Administration
import AssetStorage
import StorageContract

/// Copies the files of all assets that the copy of a store names, to another folder or into an
/// archive.
struct AssetCopying {
    struct Damaged {
        let stored: StoredAsset
        let condition: AssetCondition
    }

    enum Target {
        case folder(AssetFiles)
        case archive(BackupArchive)
    }

    private static let pageMax = 1_000

    let source: AssetFiles
    let target: Target
    /// In the order of copying.
    private(set) var copied: [AssetNumber] = []

    init(from source: String, to target: String) {
        self.source = AssetFiles(in: source)
        self.target = .folder(AssetFiles(in: target))
    }

    init(from source: String, into archive: BackupArchive) {
        self.source = AssetFiles(in: source)
        self.target = .archive(archive)
    }

    /// Copies the assets that the target lacks.
    ///
    /// An asset without an intact file is removed from the copy of the store if no record names it.
    ///
    /// - Returns: Assets without an intact file that a record names.
    mutating func copy(namedBy rows: any StoreCopy, _ bar: inout ProgressBar) throws -> [Damaged] {
        if case .folder(let files) = self.target { try files.makeFolder() }
        var damaged: [Damaged] = []
        var last: AssetNumber?
        while true {
            let page = try rows.assets(after: last, limit: Self.pageMax)
            for stored in page where !self.isThere(stored) {
                try bar.refuseIfStopped()
                let condition = try self.copy(stored, &bar)
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

    private func isThere(_ stored: StoredAsset) -> Bool {
        switch self.target {
        case .folder(let files): files.hasFile(of: stored)
        case .archive: self.copied.contains(ascending: stored.number)
        }
    }

    private func copy(_ stored: StoredAsset, _ bar: inout ProgressBar) throws -> AssetCondition {
        switch self.target {
        case .folder(let files): try self.source.copy(stored, to: files) { bar.add($0) }
        case .archive(let archive): try archive.add(stored, from: self.source) { bar.add($0) }
        }
    }

    /// Removes files that were copied for an earlier copy of the store, and that this one does not
    /// name.
    func removeFiles(notIn rows: any StoreCopy) throws {
        for number in self.copied where try !rows.has(number) {
            switch self.target {
            case .folder(let files): try files.removeFile(of: number)
            case .archive(let archive): archive.leaveOut(number, of: self.source)
            }
        }
    }

    func report(_ damaged: [Damaged]) -> [AssetReport.Damaged] {
        damaged.map { AssetReport.Damaged($0.stored, $0.condition, in: self.source) }
    }
}

extension [AssetNumber] {
    /// Whether it has a number.
    ///
    /// The numbers of a store's first copy come in ascending order; those of later copies come after
    /// them, and are few.
    fileprivate func contains(ascending number: AssetNumber) -> Bool {
        var range = 0..<self.count
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            if self[middle] == number { return true }
            range = self[middle] < number ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return false
    }
}
