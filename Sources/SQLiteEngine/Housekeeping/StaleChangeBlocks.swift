import GRDBSQLite
import RecordModel
import StorageContract

/// Removes stale entries from `change`, and merges small blocks.
///
/// Blocks that lost entries are rewritten in key order.
struct StaleChangeBlocks {
    private let order: ChangeOrder
    private var statements: ChangeStatements { self.order.statements }

    init(_ order: ChangeOrder) {
        self.order = order
    }

    /// Continues the round, or starts one of at most `roundMax` positions; reads at most
    /// `blocksMax` blocks.
    func remove(roundMax: Int, blocksMax: Int) throws(StorageFailure) {
        if self.order.staleRound == nil {
            self.order.staleRound = try self.startRound(positionsMax: roundMax)
        }
        guard var round = self.order.staleRound else { return }
        // After an unreadable block, the next round starts anew; also, one owner avoids copies.
        self.order.staleRound = nil
        var blocksLeft = blocksMax
        while blocksLeft > 0, let next = round.next {
            try self.removeRun(from: next.position, in: next.zone, &round, &blocksLeft)
        }
        if round.next != nil {
            self.order.staleRound = round
        } else {
            self.statements.forgetStale.bind(1, round.lastRow)
            try self.statements.forgetStale.run()
        }
    }

    private func startRound(positionsMax: Int) throws(StorageFailure) -> StaleRound? {
        var zones: [ZoneKey: [Int64]] = [:]
        var count = 0
        var lastRow: Int64 = 0
        let statement = self.statements.stale
        while count < positionsMax, try statement.step() {
            lastRow = statement.integer(0)
            let key = ZoneKey(
                database: DatabaseID(rawValue: statement.integer(1)),
                number: statement.integer(2)
            )
            guard let positions = ChangeBlock.decode(positions: statement.bytes(3)) else {
                statement.reset()
                throw .unexpected(code: SQLITE_CORRUPT)
            }
            if !positions.isEmpty { zones[key, default: []] += positions }
            count += positions.count
        }
        statement.reset()
        // Positions that did not fit wait for the next round.
        self.order.roundStarted(waiting: count < positionsMax ? 0 : positionsMax)
        return lastRow == 0 ? nil : StaleRound(zones: zones, lastRow: lastRow)
    }

    private struct Block {
        let key: Int64
        var entries: [ChangeBlock.Entry]
    }

    /// Processes neighbouring blocks while they lose entries or can be merged.
    private func removeRun(
        from position: Int64,
        in zone: ZoneKey,
        _ round: inout StaleRound,
        _ blocksLeft: inout Int
    ) throws(StorageFailure) {
        /// The block to write, unless the next block absorbs it.
        var pending: Block?
        var start = position
        while blocksLeft > 0, round.next?.zone == zone {
            guard var block = try self.block(from: start, in: zone) else {
                // Nothing exists after that position: the zone was deleted.
                _ = round.take(upTo: .max, in: zone)
                break
            }
            blocksLeft -= 1
            start = block.key &+ 1
            let isChanged = block.entries.remove(all: round.take(upTo: block.key, in: zone))
            if block.entries.isEmpty {
                try self.delete(block, in: zone)
                continue
            }
            if let small = pending, small.entries.count + block.entries.count <= ChangeBlock.entriesMax {
                try self.delete(small, in: zone)
                block.entries = small.entries + block.entries
            } else {
                if let full = pending { try self.write(full, in: zone) }
                pending = nil
                guard isChanged else { return }
            }
            pending = block
        }
        if let last = pending { try self.write(last, in: zone) }
    }

    /// The first block that ends at or after a position.
    private func block(from position: Int64, in zone: ZoneKey) throws(StorageFailure) -> Block? {
        let statement = self.statements.block
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, position)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        guard let entries = ChangeBlock.decode(statement.bytes(1)) else {
            throw .unexpected(code: SQLITE_CORRUPT)
        }
        return Block(key: statement.integer(0), entries: entries)
    }

    private func write(_ block: Block, in zone: ZoneKey) throws(StorageFailure) {
        let statement = self.statements.rewrite
        statement.bind(2, zone.database.rawValue)
        statement.bind(3, zone.number)
        statement.bind(4, block.key)
        try statement.run(bytes: ChangeBlock.encode(block.entries), at: 1)
    }

    private func delete(_ block: Block, in zone: ZoneKey) throws(StorageFailure) {
        let statement = self.statements.delete
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, block.key)
        try statement.run()
    }
}

extension [ChangeBlock.Entry] {
    /// Removes positions; both sequences ascend.
    ///
    /// Returns whether any was found.
    fileprivate mutating func remove(all positions: ArraySlice<Int64>) -> Bool {
        guard !positions.isEmpty else { return false }
        let count = self.count
        var next = positions.startIndex
        self.removeAll { entry in
            while next < positions.endIndex, positions[next] < entry.position { next += 1 }
            return next < positions.endIndex && positions[next] == entry.position
        }
        return self.count < count
    }
}
