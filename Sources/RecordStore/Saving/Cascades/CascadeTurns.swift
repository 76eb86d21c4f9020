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
    private let numbers: [String: Int32]
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

    func isGoing(_ name: String) -> Bool { self.numbers[name].map { self.isGoing[Int($0)] } ?? false }
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
        guard var plan = try ZonePlan(rule: self, zone: turns.zone),
            plan.key == turns.key
        else { return nil }
        var rest = turns
        switch turns.stage {
        case .settled: return nil
        case .walking(let walk):
            try self.goOn(walk, of: &rest)
        case .leaving(var pieces):
            guard try plan.delete(pieces) else { return nil }
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
}

extension ZonePlan {
    /// Finds what goes with the deletes, and what keeps it, and refuses those that are kept.
    ///
    /// When it is more than one transaction takes, the plan has turns, and says nothing about the deletes.
    mutating func walkCascades(_ allowance: inout CascadeAllowance) throws(StorageFailure) {
        let roots = self.deletes.filter { $0.isThere }.map {
            CascadeWalk.Root(index: $0.index, name: $0.name)
        }
        guard !roots.isEmpty else { return }
        let walk = CascadeWalk(
            roots,
            saved: self.savedReferrers,
            failed: self.deleteIndexes.filter { self.failures[$0.value] != nil },
            recordsMax: self.rule.bounds.cascadeRecordsMax
        )
        let (transaction, key) = (self.rule.transaction, self.key)
        let stepsMax = max(0, allowance.stepsMax - allowance.stepsUsed) + roots.count
        var steps = stepsMax
        let isFound = try walk.goOn(steps: &steps) { targets, behind, limit throws(StorageFailure) in
            try transaction.referrers(of: targets, in: key, behind: behind, limit: limit)
        }
        guard isFound, walk.settle() else {
            walk.reserveRoom()
            self.turns = CascadeTurns(
                zone: self.zone,
                key: key,
                refused: allowance.refused,
                room: max(0, self.rule.bounds.cascadeTogetherMax - allowance.stepsUsed),
                stage: .walking(walk)
            )
            return
        }
        allowance.stepsUsed += max(0, stepsMax - steps - roots.count)
        self.failures.merge(walk.refused) { $1 }
        let cascades = walk.cascades
        self.deletes.removeAll { self.failures[$0.index] != nil }
        for place in self.deletes.indices {
            self.deletes[place].cascade = cascades[self.deletes[place].index] ?? []
        }
    }

    private var savedReferrers: CascadeWalk.Saved {
        var saved = CascadeWalk.Saved()
        for planned in self.saves.inOrder {
            saved.names.insert(planned.name)
            for (target, kinds) in planned.parts?.references.kinds ?? [:] {
                saved.referrers[target, default: []].append(Referrer(name: planned.name, kinds: kinds))
            }
        }
        return saved
    }

    /// Deletes the next piece, if that is still what the request means; returns whether it is.
    mutating func delete(_ pieces: CascadePieces) throws(StorageFailure) -> Bool {
        for root in pieces.roots {
            guard let record = try self.stored(root) else { continue }
            guard try self.mayDelete(record, named: root) else { return false }
        }
        let (transaction, key) = (self.rule.transaction, self.key)
        var leaving: Set<String> = []
        let piece = pieces.first
        var rest = piece[...]
        while !rest.isEmpty {
            let names = Array(rest.prefix(Self.recordsReadMax))
            rest.removeFirst(names.count)
            for (name, record) in zip(names, try transaction.records(named: names, in: key)) {
                guard let record else { continue }
                // One that was taken out meanwhile stays.
                let references = References(body: record.body, parent: record.parent)
                let goesAlong = references.kinds.contains { $1.contains(.deleteSelf) && pieces.isGoing($0) }
                if goesAlong || pieces.roots.contains(name) { leaving.insert(name) }
            }
        }
        var pages = ReferrerPages(of: Array(leaving)[...])
        let read: ReferrerPages.Read = { targets, behind, limit throws(StorageFailure) in
            try transaction.referrers(of: targets, in: key, behind: behind, limit: limit)
        }
        while let parts = try pages.next(read) {
            guard parts.allSatisfy({ $0.referrers.allSatisfy { leaving.contains($0.name) } }) else {
                return false
            }
        }
        try self.delete(piece.filter { leaving.contains($0) })
        try self.flush()
        return true
    }
}
