import RecordModel
import StorageContract

/// The rest of a request with deletes that take more along than one transaction should.
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
/// A record that refers to another goes with it or before it, so no reference is left dangling
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
    /// The number of the zone among those of the request, if what it deletes by name goes in turns as
    /// well; `nil` if that stays to the last transaction.
    let batchCut: Int?
    var stage: Stage

    package var isSettled: Bool {
        if case .settled = self.stage { true } else { false }
    }
}

/// The records that go before the rest of a request is executed, in their order.
struct CascadePieces: Sendable {
    /// The names that the request deletes.
    let roots: [String]
    private let names: [String]
    private let numbers: [ExactName: Int32]
    /// By number: whether it was to go when it was judged.
    private let isGoing: [Bool]
    private let parts: CascadeOrder.Parts
    private var next = 0
    /// The steps that the next turn tries.
    private var stepsMax = Int.max

    init(_ walk: CascadeWalk, isGoing: [Bool], parts: CascadeOrder.Parts) {
        self.roots = walk.roots.filter { $0.number != nil }.map(\.name)
        self.names = walk.names
        self.numbers = walk.numbers
        self.isGoing = isGoing
        self.parts = parts
    }

    var isEmpty: Bool { self.next == self.parts.weights.count }

    /// The names of each part of several records, which refer to each other in a circle.
    var circles: [[String]] {
        (0..<self.parts.weights.count).map { self.parts.numbers[$0] }.filter { $0.count > 1 }
            .map { $0.map { self.names[Int($0)] } }
    }

    /// The names of the next parts, which take about this number of steps together; there is at
    /// least one.
    func first(steps: Int) -> [[String]] {
        var taken: [[String]] = []
        var weight = 0
        for part in self.next..<self.parts.weights.count {
            weight += self.parts.weights[part]
            guard taken.isEmpty || weight <= min(steps, self.stepsMax) else { break }
            taken.append(self.parts.numbers[part].map { self.names[Int($0)] })
        }
        return taken
    }

    /// Removes parts that are gone.
    ///
    /// If records have too many index entries for a whole turn, the next turn looks at no more than
    /// twice as many.
    mutating func removeFirst(_ count: Int) {
        self.stepsMax = 2 * self.parts.weights[self.next..<self.next + count].reduce(0, +)
        self.next += count
    }

    func isGoing(_ name: String) -> Bool {
        self.numbers[ExactName(name)].map { self.isGoing[Int($0)] } ?? false
    }
}

/// The bounds of a request's deletes in one transaction.
struct CascadeAllowance {
    /// Deletes that were refused in earlier turns, by number of the item.
    var refused: [Int: StoreError] = [:]
    /// The maximum steps of all zones together, beyond one for each delete.
    var stepsMax: Int
    var stepsUsed = 0
    /// Whether what could go in turns is gone.
    var isLast = false
    /// The number of a zone with deletes that go in turns, however few they are; `nil` if they may
    /// go at once.
    var batchToCut: Int?
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
            try self.goOn(walk, of: &rest, in: zone)
        case .leaving(var pieces):
            guard let count = try self.delete(pieces, of: zone) else { return nil }
            pieces.removeFirst(count)
            rest.stage = pieces.isEmpty ? .settled : .leaving(pieces)
        }
        return rest
    }

    /// Steps of a turn: a step takes as long as a lookup, a quarter of the time of a delete.
    private var stepsOfTurn: Int { self.bounds.cascadeTurnMax * 4 }

    private func goOn(
        _ walk: CascadeWalk,
        of turns: inout CascadeTurns,
        in zone: PlannedZone
    ) throws(StorageFailure) {
        var steps = self.stepsOfTurn
        let (transaction, key) = (self.transaction, turns.key)
        let isFound = try walk.goOn(steps: &steps) { targets, behind, limit throws(StorageFailure) in
            try transaction.referrers(of: targets, in: key, behind: behind, limit: limit)
        }
        // Judging takes a turn of its own if many records were found.
        guard isFound, steps == self.stepsOfTurn || steps > walk.size / 32, walk.settle() else { return }
        var next = CascadeTurns.Stage.settled
        if walk.refused.isEmpty || !self.isAtomic(in: turns.zone) {
            let isGoing = walk.going
            var order = CascadeOrder(walk, isGoing: isGoing, takesRoots: turns.batchCut != nil)
            let parts = order.parts(together: self.bounds.cascadeTogetherMax, room: turns.room)
            guard let parts else {
                // The remaining records may keep others, which the next turn finds.
                walk.refuseTakers()
                return
            }
            let pieces = CascadePieces(walk, isGoing: isGoing, parts: parts)
            try self.checkCircles(pieces, in: zone)
            if !pieces.isEmpty { next = .leaving(pieces) }
        }
        turns.refused.merge(walk.refused) { $1 }
        turns.stage = next
    }

    /// Looks at what goes together before anything goes.
    ///
    /// - Throws: `exceeds` if a circle costs more than a request may.
    private func checkCircles(
        _ pieces: CascadePieces,
        in zone: PlannedZone
    ) throws(StorageFailure) {
        var definitions = DefinitionPlan(self)
        for names in pieces.circles {
            var costs = DeletionCosts(of: names, in: zone)
            var cost = DeletionCost()
            for _ in names {
                try cost.add(costs.next(&definitions))
                try cost.checkTogether(self.bounds)
            }
        }
    }

    /// Deletes the next piece, if that is still what the request means; returns how many parts are gone.
    private func delete(_ pieces: CascadePieces, of zone: PlannedZone) throws(StorageFailure) -> Int? {
        var definitions = DefinitionPlan(self)
        // Owners cannot lose the right to their own records.
        if self.requester.scope != .private {
            var rights = RequesterRights(zone)
            for root in pieces.roots {
                guard let record = try zone.stored(root) else { continue }
                guard try rights.mayDelete(record, named: root, &definitions) else { return nil }
            }
        }
        let parts = try self.leaving(pieces, of: zone, &definitions)
        let names = Array(parts.joined())
        guard try self.areFree(names, in: zone.key) else { return nil }
        var writing = ZoneWriting(
            zone,
            PlannedItems(self.room),
            definitions,
            countingDeletes: false
        )
        try writing.delete(names)
        try writing.flush()
        return parts.count
    }

    /// The records that go in the next turn: at least one part, and as many as their cost permits.
    private func leaving(
        _ pieces: CascadePieces,
        of zone: PlannedZone,
        _ definitions: inout DefinitionPlan
    ) throws(StorageFailure) -> [[String]] {
        let roots = Set(pieces.roots.map(ExactName.init))
        let parts = pieces.first(steps: self.bounds.cascadeTurnMax)
        var leaving: [[String]] = []
        var costs = DeletionCosts(of: parts.flatMap { $0 }, in: zone)
        var cost = DeletionCost()
        for part in parts {
            var names: [String] = []
            for name in part {
                let own = try costs.next(&definitions) { references in
                    // One that was taken out meanwhile stays.
                    roots.contains(ExactName(name))
                        || references.kinds.contains {
                            $1.contains(.deleteSelf) && pieces.isGoing($0.text)
                        }
                }
                guard let own else { continue }
                cost.add(own)
                names.append(name)
            }
            guard leaving.isEmpty || !cost.exceedsTurn(self.bounds) else { break }
            leaving.append(names)
        }
        return leaving
    }

    /// Whether nothing but the records themselves refers to records.
    private func areFree(_ names: [String], in key: ZoneKey) throws(StorageFailure) -> Bool {
        let leaving = Set(names.map(ExactName.init))
        let transaction = self.transaction
        var pages = ReferrerPages(of: names[...])
        let read: ReferrerPages.Read = { targets, behind, limit throws(StorageFailure) in
            try transaction.referrers(of: targets, in: key, behind: behind, limit: limit)
        }
        while let parts = try pages.next(read) {
            let areGoing = parts.allSatisfy {
                $0.referrers.allSatisfy { leaving.contains(ExactName($0.name)) }
            }
            guard areGoing else { return false }
        }
        return true
    }
}
