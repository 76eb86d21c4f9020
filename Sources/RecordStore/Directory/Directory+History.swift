import StorageContract

/// Containers that keep a history of their records.
extension Directory {
    /// Sets the number of days for which a container keeps replaced records; 0 ends the history.
    ///
    /// A history begins with the next change of each zone. When a container keeps none any more, its
    /// history can be read no longer, and housekeeping removes it.
    package func setHistoryDays(_ days: Int, ofContainer identifier: String) throws(DirectoryError) {
        try self.write { transaction in
            guard var row = try transaction.row(ContainerRow.byIdentifier, identifier) else {
                throw DirectoryError.containerMissing
            }
            if row.historyDays == nil, days > 0 {
                // Unlike before, also if a clock was set back: zones tell by it what has gaps.
                row.historySinceMilliseconds = try max(
                    transaction.nowMilliseconds,
                    row.historySinceMilliseconds.counted() + 1
                )
            }
            row.historyDays = days > 0 ? Int64(days) : nil
            try transaction.put(row)
            transaction.knowledge.histories = nil
        }
    }

    /// Returns the number of days for which a container keeps replaced records; 0 if it does not.
    package func historyDays(ofContainer identifier: String) throws(DirectoryError) -> Int {
        try self.read { lookup in
            guard let row = try lookup.rows.row(ContainerRow.byIdentifier, identifier) else {
                throw DirectoryError.containerMissing
            }
            return Int(row.historyDays ?? 0)
        }
    }
}
