/// The figures of the last hour and of the last day: two rings of slots, each a piece of time.
///
/// A slot's offset follows from its time, so a ring has no beginning that could be lost. A slot that
/// still has the number of an earlier round is a gap: no samples of the server were taken then.
///
///     hour   360 slots of 10 s       ┐ a sample goes into one slot of each,
///     day    288 slots of 5 min      ┘ or into the few that it covers
struct TelemetryRing: Hashable, Sendable {
    enum Level: Int, CaseIterable, Sendable {
        case hour
        case day

        var slotMilliseconds: Int64 {
            switch self {
            case .hour: 10_000
            case .day: 300_000
            }
        }

        var slotCount: Int {
            switch self {
            case .hour: 360
            case .day: 288
            }
        }
    }

    /// A piece of time, and what was seen in it.
    struct Slot: Hashable, Sendable {
        /// Its begin, in slots since 1970.
        var number: Int64
        /// The part of it in which the server was watched.
        var coveredMilliseconds: Int64
        /// By column; NaN if nothing is known.
        var values: [Double]

        /// The rate of a count, in events a second; `nil` if it is not known.
        func perSecond(_ count: Double) -> Double? {
            guard self.coveredMilliseconds > 0, !count.isNaN else { return nil }
            return count * 1_000 / Double(self.coveredMilliseconds)
        }
    }

    /// Figures of a time that has just ended.
    struct Sample: Hashable, Sendable {
        var beganMilliseconds: Int64
        var endedMilliseconds: Int64
        /// By column.
        var values: [Double]
    }

    /// The ring of a slot, and its offset there.
    struct SlotIndex: Hashable, Sendable {
        var level: Level
        var offset: Int
    }

    /// The maximum span of a sample: a longer one was too late to tell when its counts happened.
    static let sampleMillisecondsMax: Int64 = 60_000

    let columns: [TelemetryColumn]
    private var slots: [[Slot?]]

    init(columns: [TelemetryColumn] = TelemetryColumn.all) {
        self.columns = columns
        self.slots = Level.allCases.map { Array(repeating: nil, count: $0.slotCount) }
    }

    subscript(index: SlotIndex) -> Slot? { self.slots[index.level.rawValue][index.offset] }

    // MARK: Writing

    /// Adds a sample.
    ///
    /// - Returns: The slots that have changed; none if the sample's time can't be.
    @discardableResult
    mutating func add(_ sample: Sample) -> [SlotIndex] {
        let length = sample.endedMilliseconds - sample.beganMilliseconds
        guard length > 0, length <= Self.sampleMillisecondsMax, sample.beganMilliseconds >= 0,
            sample.values.count == self.columns.count
        else { return [] }
        return Level.allCases.flatMap { level in
            let width = level.slotMilliseconds
            let numbers = (sample.beganMilliseconds / width)...((sample.endedMilliseconds - 1) / width)
            return numbers.map { number in
                let begin = max(sample.beganMilliseconds, number * width)
                let end = min(sample.endedMilliseconds, (number + 1) * width)
                return self.add(
                    sample.values,
                    covering: end - begin,
                    of: length,
                    number: number,
                    level: level
                )
            }
        }
    }

    /// Adds the part of a sample that is in a slot: of counts a share, of gauges the same.
    private mutating func add(
        _ values: [Double],
        covering covered: Int64,
        of length: Int64,
        number: Int64,
        level: Level
    ) -> SlotIndex {
        let index = SlotIndex(level: level, offset: Int(number % Int64(level.slotCount)))
        let share = Double(covered) / Double(length)
        let own = zip(self.columns, values).map { column, value in
            column.merging == .sum ? value * share : value
        }
        var slot = Slot(number: number, coveredMilliseconds: covered, values: own)
        if let known = self[index], known.number == number {
            slot.coveredMilliseconds = min(known.coveredMilliseconds + covered, level.slotMilliseconds)
            for (offset, column) in self.columns.enumerated() {
                slot.values[offset] = Self.merged(known.values[offset], own[offset], column.merging)
            }
        }
        self.slots[level.rawValue][index.offset] = slot
        return index
    }

    private static func merged(
        _ earlier: Double,
        _ later: Double,
        _ merging: TelemetryColumn.Merging
    ) -> Double {
        if later.isNaN { return earlier }
        if earlier.isNaN { return later }
        return switch merging {
        case .sum: earlier + later
        case .highest: max(earlier, later)
        case .last: later
        }
    }

    /// Takes a slot of a file.
    mutating func set(_ slot: Slot, at level: Level) {
        guard slot.number >= 0, slot.values.count == self.columns.count,
            (1...level.slotMilliseconds).contains(slot.coveredMilliseconds)
        else { return }
        self.slots[level.rawValue][Int(slot.number % Int64(level.slotCount))] = slot
    }

    // MARK: Reading

    /// The slots up to a moment, the oldest first; `nil` for one without samples.
    func slots(of level: Level, until nowMilliseconds: Int64) -> [Slot?] {
        let last = max(0, nowMilliseconds) / level.slotMilliseconds
        return (last - Int64(level.slotCount) + 1...last).map { number in
            guard number >= 0 else { return nil }
            let slot = self[SlotIndex(level: level, offset: Int(number % Int64(level.slotCount)))]
            return slot?.number == number ? slot : nil
        }
    }

    /// The newest slot of the hour; `nil` if there is none.
    var newest: Slot? {
        self.slots[Level.hour.rawValue].compactMap { $0 }.max { $0.number < $1.number }
    }

    /// When the newest sample ended; `nil` if there is none.
    var watchedUntilMilliseconds: Int64? {
        guard let slot = self.newest else { return nil }
        let begin = slot.number * Level.hour.slotMilliseconds
        guard let column = self.columns.firstIndex(where: { $0.name == TelemetryColumn.written }),
            let written = Int64(exactly: (slot.values[column] * 1_000).rounded()), written > begin
        else { return begin + slot.coveredMilliseconds }
        return min(written, begin + Level.hour.slotMilliseconds)
    }
}
