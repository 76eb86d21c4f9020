import TestSupport

/// What the file of an engine says about the order of changes, read without the engine's help.
struct ChangeOrder {
    struct Change: Hashable, Comparable {
        var database: Int
        var zone: Int
        var position: Int
        var record: Int

        static func < (one: Change, other: Change) -> Bool {
            (one.database, one.zone, one.position) < (other.database, other.zone, other.position)
        }
    }

    /// All of them, in order.
    private(set) var changes: [Change] = []
    /// Positions that may be in the order though no record has them.
    private(set) var stale: Set<[Int]> = []
    private(set) var records: Set<Change> = []
    private(set) var blocks = 0
    /// Whether each block ends where it says and begins behind the one before.
    private(set) var blocksAscend = true

    init(in folder: TemporaryDirectory) async throws {
        let file = OtherProcess(folder: folder)
        for row in try await file.execute(
            """
            SELECT database || ' ' || zone || ' ' || position || ' ' || hex(entries) FROM change
            ORDER BY database, zone, position
            """
        ) {
            let words = row.split(separator: " ")
            let (database, zone, end) = (Int(words[0])!, Int(words[1])!, Int(words[2])!)
            let numbers = Self.numbers(inHex: words[3])
            var position = 0
            let before = self.changes.last { $0.database == database && $0.zone == zone }?.position ?? 0
            for place in stride(from: 0, to: numbers.count, by: 2) {
                position += numbers[place]
                let change = Change(
                    database: database,
                    zone: zone,
                    position: position,
                    record: numbers[place + 1]
                )
                self.changes.append(change)
                if position <= before || position > end { self.blocksAscend = false }
            }
            self.blocks += 1
        }
        let stale = "SELECT database || ' ' || zone || ' ' || hex(positions) FROM stale_change"
        for row in try await file.execute(stale) {
            let words = row.split(separator: " ")
            var position = 0
            for gap in Self.numbers(inHex: words[2]) {
                position += gap
                self.stale.insert([Int(words[0])!, Int(words[1])!, position])
            }
        }
        let records = "SELECT database || ' ' || zone || ' ' || position || ' ' || number FROM record"
        for row in try await file.execute(records) {
            let words = row.split(separator: " ").map { Int($0)! }
            self.records.insert(
                Change(database: words[0], zone: words[1], position: words[2], record: words[3])
            )
        }
    }

    /// Every record is there once, with its last change; what else is there is known to be stale.
    var isWhole: Bool {
        let current = self.changes.filter { !self.stale.contains([$0.database, $0.zone, $0.position]) }
        return self.blocksAscend && zip(self.changes, self.changes.dropFirst()).allSatisfy { $0 < $1 }
            && current.count == self.records.count && Set(current) == self.records
    }

    /// Unsigned LEB128.
    private static func numbers(inHex hex: Substring) -> [Int] {
        var numbers: [Int] = []
        var value = 0
        var shift = 0
        var rest = hex
        while !rest.isEmpty {
            let byte = Int(rest.prefix(2), radix: 16)!
            rest = rest.dropFirst(2)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80 {
                numbers.append(value)
                (value, shift) = (0, 0)
            }
        }
        return numbers
    }
}
