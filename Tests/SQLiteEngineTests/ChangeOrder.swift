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
        // One statement, since housekeeping may take out stale positions between two.
        let rows = try await OtherProcess(folder: folder).execute(
            """
            SELECT 'change ' || database || ' ' || zone || ' ' || position || ' ' || hex(entries) FROM change
            UNION ALL
            SELECT 'stale ' || database || ' ' || zone || ' ' || hex(positions) FROM stale_change
            UNION ALL
            SELECT 'record ' || database || ' ' || zone || ' ' || position || ' ' || number FROM record
            """
        ).map { $0.split(separator: " ") }
        for row in rows where row[0] == "record" {
            self.records.insert(
                Change(
                    database: Int(row[1])!,
                    zone: Int(row[2])!,
                    position: Int(row[3])!,
                    record: Int(row[4])!
                )
            )
        }
        for row in rows where row[0] == "stale" {
            var position = 0
            for gap in Self.numbers(inHex: row[3]) {
                position += gap
                self.stale.insert([Int(row[1])!, Int(row[2])!, position])
            }
        }
        let blocks = rows.filter { $0[0] == "change" }.map { row in
            (end: [Int(row[1])!, Int(row[2])!, Int(row[3])!], entries: Self.numbers(inHex: row[4]))
        }
        for block in blocks.sorted(by: { $0.end.lexicographicallyPrecedes($1.end) }) {
            let (database, zone, end) = (block.end[0], block.end[1], block.end[2])
            var position = 0
            let before = self.changes.last { $0.database == database && $0.zone == zone }?.position ?? 0
            for index in stride(from: 0, to: block.entries.count, by: 2) {
                position += block.entries[index]
                self.changes.append(
                    Change(
                        database: database,
                        zone: zone,
                        position: position,
                        record: block.entries[index + 1]
                    )
                )
                if position <= before || position > end { self.blocksAscend = false }
            }
            self.blocks += 1
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
