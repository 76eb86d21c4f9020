import RecordModel

/// The rest of a request whose deletes take more along than one transaction should.
///
/// Each turn executes a piece, beside the requests of others.
///
///     walking   finds what goes, and what keeps it; then judges the deletes, and puts what goes in order
///       │ all is found and judged
///       ▼
///     leaving   deletes a piece a turn, the farthest first    ── something came in between: begins anew
///       │ all pieces are gone
///       ▼
///     settled   the rest of the request is executed as if it had just come
///
/// A record that refers to another goes with it or before it, so nothing refers to what is gone
/// after any of the turns.
package struct CascadeTurns: Sendable {
    enum Stage: Sendable {
        case walking(CascadeWalk)
        case leaving(CascadePieces)
        case settled
    }

    let zone: ZoneID
    let key: ZoneKey
    /// Deletes of the request that were refused when all were judged, by number of the item.
    var refused: [Int: StoreError]
    /// The steps that the last transaction has for the zone, beyond one for each delete.
    let room: Int
    var stage: Stage

    package var isSettled: Bool {
        if case .settled = self.stage { true } else { false }
    }
}

/// The records that go before the rest of a request is executed, in their order.
struct CascadePieces: Sendable {
    /// What the request deletes by name.
    let roots: [String]
    private let names: [String]
    private let numbers: [ExactName: Int32]
    /// By number: whether it was to go when it was judged.
    private let isGoing: [Bool]
    private let pieces: NumberLists
    private var next = 0

    init(_ walk: CascadeWalk, isGoing: [Bool], pieces: NumberLists) {
        self.roots = walk.roots.filter { $0.number != nil }.map(\.name)
        self.names = walk.names
        self.numbers = walk.numbers
        self.isGoing = isGoing
        self.pieces = pieces
    }

    var isEmpty: Bool { self.next == self.pieces.count }

    /// The names of the next piece; there is one.
    var first: [String] { self.pieces[self.next].map { self.names[Int($0)] } }

    mutating func removeFirst() { self.next += 1 }

    func isGoing(_ name: String) -> Bool {
        self.numbers[ExactName(name)].map { self.isGoing[Int($0)] } ?? false
    }
}

/// What a request's deletes may still take along in a transaction.
struct CascadeAllowance {
    /// Deletes that were refused in earlier turns, by number of the item.
    var refused: [Int: StoreError] = [:]
    /// Of all zones together, beyond one for each delete.
    var stepsMax: Int
    var stepsUsed = 0
}

extension ModifyRecordsRule {
    /// Has what goes walk, or leave, for one turn; returns what is left then.
    ///
    /// `nil` if nothing was done, and the request is to be judged anew.
    func goOn(_ turns: CascadeTurns) throws(StorageFailure) -> CascadeTurns? {
        guard let zone = try PlannedZone.find(turns.zone, for: self), zone.key == turns.key else {
            return nil
        }
        var rest = turns
        switch turns.stage {
        case .settled: return nil
        case .walking(let walk):
            try self.goOn(walk, of: &rest)
        case .leaving(var pieces):
            guard try self.delete(pieces, of: zone) else { return nil }
            pieces.removeFirst()
            rest.stage = pieces.isEmpty ? .settled : .leaving(pieces)
        }
        return rest
    }

    /// Steps of a turn: a step takes as long as a look-up, a quarter of what a delete takes.
    private var stepsOfTurn: Int { self.bounds.cascadeTurnMax * 4 }

    private func goOn(_ walk: CascadeWalk, of turns: inout CascadeTurns) throws(StorageFailure) {
        var steps = self.stepsOfTurn
        let (transaction, key) = (self.transaction, turns.key)
        let isFound = try walk.goOn(steps: &steps) { targets, behind, limit throws(StorageFailure) in
            try transaction.referrers(of: targets, in: key, behind: behind, limit: limit)
        }
        // Judging takes a turn of its own if what was found is much.
        guard isFound, steps == self.stepsOfTurn || steps > walk.size / 32, walk.settle() else { return }
        var next = CascadeTurns.Stage.settled
        if walk.refused.isEmpty || !self.isAtomic(in: turns.zone) {
            let isGoing = walk.going
            var order = CascadeOrder(walk, isGoing: isGoing)
            let pieces = order.pieces(
                of: self.bounds.cascadeTurnMax,
                together: self.bounds.cascadeTogetherMax,
                room: turns.room
            )
            guard let pieces else {
                // What they leave may keep others, which the next turn finds.
                walk.refuseTakers()
                return
            }
            if pieces.count > 0 { next = .leaving(CascadePieces(walk, isGoing: isGoing, pieces: pieces)) }
        }
        turns.refused.merge(walk.refused) { $1 }
        turns.stage = next
    }

    /// Deletes the next piece, if that is still what the request means; returns whether it is.
    private func delete(_ pieces: CascadePieces, of zone: PlannedZone) throws(StorageFailure) -> Bool {
        var definitions = DefinitionPlan(self)
        var rights = RequesterRights(zone)
        for root in pieces.roots {
            guard let record = try zone.stored(root) else { continue }
            guard try rights.mayDelete(record, named: root, &definitions) else { return false }
        }
        let (transaction, key) = (self.transaction, zone.key)
        let roots = Set(pieces.roots.map(ExactName.init))
        var leaving: Set<ExactName> = []
        let piece = pieces.first
        var rest = piece[...]
        while !rest.isEmpty {
            let names = Array(rest.prefix(PlannedZone.recordsReadMax))
            rest.removeFirst(names.count)
            for (name, record) in zip(names, try transaction.records(named: names, in: key)) {
                guard let record else { continue }
                // One that was taken out meanwhile stays.
                let references = References(body: record.body, parent: record.parent)
                let goesAlong = references.kinds.contains {
                    $1.contains(.deleteSelf) && pieces.isGoing($0.text)
                }
                if goesAlong || roots.contains(name) { leaving.insert(name) }
            }
        }
        var pages = ReferrerPages(of: leaving.map(\.text)[...])
        let read: ReferrerPages.Read = { targets, behind, limit throws(StorageFailure) in
            try transaction.referrers(of: targets, in: key, behind: behind, limit: limit)
        }
        while let parts = try pages.next(read) {
            guard parts.allSatisfy({ $0.referrers.allSatisfy { leaving.contains($0.name) } }) else {
                return false
            }
        }
        var writing = ZoneWriting(
            zone,
            PlannedItems(self.room),
            definitions,
            countingDeletes: false
        )
        try writing.delete(piece.filter { leaving.contains($0) })
        try writing.flush()
        return true
    }
}
