import StorageContract

/// The history that a container keeps of its records.
struct HistoryRule: Hashable, Sendable {
    /// The number of days for which a change stays.
    var days: Int64
    /// When the container began to keep a history: a zone that began its history before then has gaps.
    var life: Int64

    static let dayMilliseconds: Int64 = 86_400_000

    /// Changes from before this time go.
    ///
    /// Those of a damaged row, which no operator would ask for, keep everything.
    func oldestMilliseconds(now: Int64) -> Int64 {
        let (milliseconds, isTooMuch) = self.days.multipliedReportingOverflow(by: Self.dayMilliseconds)
        return isTooMuch ? .min : now.adding(clamped: 0 &- milliseconds)
    }
}

extension TableReader {
    /// The histories that containers keep, by environment.
    func storedHistories() throws(StorageFailure) -> [EnvironmentID: HistoryRule] {
        var histories: [EnvironmentID: HistoryRule] = [:]
        for container in try self.rows(RowRange(ContainerRow.byHistory)) {
            guard let days = container.historyDays else { continue }
            let history = HistoryRule(days: days, life: container.historySinceMilliseconds)
            for row in try self.rows(RowRange(EnvironmentRow.byContainer, container.number)) {
                histories[row.number] = history
            }
        }
        return histories
    }
}

extension WriteTransaction {
    /// The history that the container of an environment keeps; `nil` if it keeps none.
    func history(of environment: EnvironmentID) throws(StorageFailure) -> HistoryRule? {
        if let known = self.knowledge.histories { return known.isEmpty ? nil : known[environment] }
        let stored = try self.storedHistories()
        self.knowledge.histories = stored
        return stored[environment]
    }
}
