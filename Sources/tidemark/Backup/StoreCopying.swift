import StorageContract

/// Copies a store to a file, and then the files of the assets that it names.
struct StoreCopying {
    /// Bound on the copies of the database.
    ///
    /// It is copied again if the server has meanwhile removed files that it names.
    private static let copiesMax = 3

    let store: any StoreSource
    var assets: AssetCopying

    /// Copies the database, and then the files of the assets that it names.
    ///
    /// A server removes assets a day or more after their last record. If it removes some before
    /// they are copied, the database is copied again, and then only the new assets.
    mutating func copy(
        to path: String,
        _ bar: inout ProgressBar
    ) throws -> (any StoreCopy, [AssetReport.Damaged]) {
        var copies = 1
        while true {
            var shown = bar
            let copy = try self.store.copy(to: path) { shown.add($0) }
            try shown.refuseIfStopped()
            let damaged = try self.assets.copy(namedBy: copy, &shown)
            bar = shown
            let isCurrent = try damaged.allSatisfy { try self.store.has($0.stored.number) }
            if isCurrent || copies == Self.copiesMax {
                if copies > 1 { try self.assets.removeFiles(notIn: copy) }
                return (copy, self.assets.report(damaged))
            }
            try copy.close()
            copies += 1
        }
    }
}
