import RecordModel

/// The records that go before the rest of a request is executed, when a delete takes more along than one transaction should: a turn a piece.
///
/// Whatever refers to a record goes with it or before it, so nothing refers to what is gone after any of the turns.
package struct CascadeTurns: Sendable {
    let zone: ZoneID
    let key: ZoneKey
    /// What the request deletes by name.
    let roots: Set<String>
    /// All that was to go when it was judged.
    let going: Set<String>
    /// Those that are left; the farthest first.
    var pieces: ArraySlice<[String]>

    /// How many records the next turn takes; 0: the rest of the request is next.
    package var nextCount: Int { self.pieces.first?.count ?? 0 }
}

/// The records of a cascade in the order in which they may go.
///
/// Those that refer to each other in a circle go together: the strongly connected components of Tarjan's algorithm, which come with those that
/// are referred to last. Without recursion, since a chain may have thousands of records.
struct CascadeOrder {
    private struct Visit {
        let number: Int
        var nextHolder = 0
    }

    private let names: [String]
    /// By number: those that refer to a record, and go.
    private var holders: [[Int]]
    /// By number: whether something that stays until the request's saves are made refers to it, or it is saved itself.
    private var waits: [Bool]

    /// Asks who refers to each record as it is stored.
    init(
        _ names: [String],
        isSaved: (String) -> Bool,
        holdersOf: (String) throws(StorageFailure) -> [String]
    ) throws(StorageFailure) {
        var numbers: [String: Int] = [:]
        for (number, name) in names.enumerated() { numbers[name] = number }
        self.names = names
        self.holders = []
        self.waits = []
        for name in names {
            let all = try holdersOf(name)
            let going = all.compactMap { numbers[$0] }
            self.holders.append(going)
            self.waits.append(going.count < all.count || isSaved(name))
        }
    }

    /// Those that may go before the request's saves, in pieces of at least `size` but the last, and so that at most `size` are left; `nil`: more are left.
    func pieces(of size: Int) -> [[String]]? {
        var pieces: [[String]] = []
        var piece: [String] = []
        var left = self.names.count
        var waits = self.waits
        for component in self.components where left > size {
            let mustWait =
                component.count > size
                || component.contains { waits[$0] || self.holders[$0].contains { waits[$0] } }
            guard !mustWait else {
                for number in component { waits[number] = true }
                continue
            }
            piece += component.map { self.names[$0] }
            left -= component.count
            if piece.count >= size {
                pieces.append(piece)
                piece = []
            }
        }
        if !piece.isEmpty { pieces.append(piece) }
        return left <= size ? pieces : nil
    }

    private var components: [[Int]] {
        let count = self.names.count
        var order = [Int?](repeating: nil, count: count)
        var least = [Int](repeating: 0, count: count)
        var isOnStack = [Bool](repeating: false, count: count)
        var stack: [Int] = []
        var components: [[Int]] = []
        var next = 0
        for start in 0..<count where order[start] == nil {
            var visits: [Visit] = []
            func enter(_ number: Int) {
                order[number] = next
                least[number] = next
                next += 1
                stack.append(number)
                isOnStack[number] = true
                visits.append(Visit(number: number))
            }
            enter(start)
            while let visit = visits.last {
                let number = visit.number
                if visit.nextHolder < self.holders[number].count {
                    visits[visits.count - 1].nextHolder += 1
                    let holder = self.holders[number][visit.nextHolder]
                    if let known = order[holder] {
                        if isOnStack[holder] { least[number] = min(least[number], known) }
                    } else {
                        enter(holder)
                    }
                    continue
                }
                visits.removeLast()
                if let below = visits.last { least[below.number] = min(least[below.number], least[number]) }
                guard least[number] == order[number] else { continue }
                var component: [Int] = []
                while let member = stack.popLast() {
                    isOnStack[member] = false
                    component.append(member)
                    if member == number { break }
                }
                components.append(component)
            }
        }
        return components
    }
}

extension ZonePlan {
    /// Cuts what goes with the deletes into turns when it is more than one transaction should delete.
    ///
    /// Returns whether a delete was refused, because it cannot be cut.
    mutating func settleTurns() throws(StorageFailure) -> Bool {
        let size = self.rule.bounds.cascadeTurnMax
        self.turns = nil
        guard self.deletes.reduce(0, { $0 + $1.cascade.count }) > size else { return false }
        var names: [String] = []
        var going: Set<String> = []
        for delete in self.deletes {
            for name in delete.cascade where going.insert(name).inserted { names.append(name) }
        }
        guard names.count > size else { return false }
        let (transaction, key, saves) = (self.rule.transaction, self.key, self.saves)
        let order = try CascadeOrder(names, isSaved: { saves[$0] != nil }) { (name) throws(StorageFailure) in
            try transaction.holders(of: name, in: key, limit: .max).map(\.name)
        }
        guard let pieces = order.pieces(of: size) else {
            for delete in self.deletes where delete.cascade.count > 1 {
                self.failures[delete.index] = .referenceLimit(target: delete.name)
            }
            self.deletes.removeAll { self.failures[$0.index] != nil }
            return true
        }
        self.turns = CascadeTurns(
            zone: self.zone,
            key: key,
            roots: Set(self.deletes.map(\.name)),
            going: going,
            pieces: pieces[...]
        )
        return false
    }

    /// Deletes the first piece: what is left then; `nil`: there are no turns, or they would change nothing.
    func firstTurn() throws(StorageFailure) -> CascadeTurns? {
        guard var rest = self.turns, let piece = rest.pieces.popFirst() else { return nil }
        for name in piece { try self.delete(name) }
        return rest
    }

    /// Deletes the next piece, if that is still what the request means: what is left then; `nil`: nothing was done, and the request is to be judged anew.
    mutating func take(_ turns: CascadeTurns) throws(StorageFailure) -> CascadeTurns? {
        guard turns.key == self.key, let piece = turns.pieces.first else { return nil }
        for root in turns.roots {
            guard let record = try self.stored(root) else { continue }
            guard try self.mayDelete(record, named: root) else { return nil }
        }
        let transaction = self.rule.transaction
        var leaving: [String] = []
        for name in piece {
            guard let record = try transaction.record(named: name, in: self.key) else { continue }
            // One that was taken out meanwhile stays.
            let holds = Holds(body: record.body, parent: record.parent)
            let goesAlong = holds.kinds.contains { $1.contains(.deleteSelf) && turns.going.contains($0) }
            if goesAlong || turns.roots.contains(name) { leaving.append(name) }
        }
        let all = Set(leaving)
        for name in leaving {
            let holders = try transaction.holders(of: name, in: self.key, limit: all.count + 1)
            guard holders.allSatisfy({ all.contains($0.name) }) else { return nil }
        }
        for name in leaving { try self.delete(name) }
        var rest = turns
        rest.pieces.removeFirst()
        return rest
    }
}
