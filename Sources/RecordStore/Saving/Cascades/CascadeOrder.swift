import RecordModel

/// The records of a cascade in the order in which they may go, in parts.
///
/// Records that refer to each other in a circle go together. They are the strongly connected
/// components of Tarjan's algorithm, which come with those that are referred to last. The algorithm
/// runs without recursion, since a chain may have thousands of records.
struct CascadeOrder {
    private struct Visit {
        let number: Int32
        var nextReferrer: Int
    }

    /// By number: those that refer to a record, and go.
    private let referrers: NumberLists
    private let isGoing: [Bool]
    private let weights: [Int]
    /// The numbers of the records that the request deletes by name.
    private let roots: [Int32]
    /// By number: whether it can go only when the request's saves are made.
    private var waits: [Bool]

    /// `takesRoots` says whether records that the request deletes by name go with the others, and
    /// not last.
    init(_ walk: CascadeWalk, isGoing: [Bool], takesRoots: Bool) {
        self.isGoing = isGoing
        self.weights = walk.weights
        self.roots = walk.roots.compactMap(\.number)
        self.waits = walk.names.map { walk.saved.names.contains($0) }
        for number in walk.bound { self.waits[Int(number)] = true }
        var referrers = NumberLists()
        var nextKeeper = 0
        for number in walk.names.indices {
            for referrer in walk.referrers[number] { referrers.append(referrer) }
            while nextKeeper < walk.keepers.count, walk.keepers[nextKeeper].kept == number {
                // The keeper is among the records that go.
                if let keeper = walk.numbers[ExactName(walk.keepers[nextKeeper].name)] {
                    referrers.append(keeper)
                }
                nextKeeper += 1
            }
            referrers.close()
        }
        self.referrers = referrers
        guard !takesRoots else { return }
        // Records deleted by name stay to the end, unless a record that goes along waits for
        // one.
        let targets = referrers.reversed(count: walk.names.count)
        for number in self.roots where !targets[Int(number)].contains(where: { isGoing[Int($0)] }) {
            self.waits[Int(number)] = true
        }
    }

    /// Records that go together, part by part, and the steps that each part takes.
    struct Parts {
        var numbers = NumberLists()
        var weights: [Int] = []
    }

    /// The records that may go before the request's saves, in parts.
    ///
    /// - Parameters:
    ///   - together: The steps that one transaction takes at the most, when it must.
    ///   - room: The steps that the last transaction has, beyond one for each record that it deletes by name.
    /// - Returns: `nil` if the last transaction has no room for the remaining records.
    mutating func parts(together: Int, room: Int) -> Parts? {
        var parts = Parts()
        var left = 0
        let components = self.components
        for component in 0..<components.count {
            let members = components[component]
            let added = members.reduce(0) { $0 + self.weights[Int($1)] }
            let mustWait =
                added > together
                || members.contains { number in
                    self.waits[Int(number)]
                        || self.referrers[Int(number)].contains { self.waits[Int($0)] }
                }
            guard !mustWait else {
                for number in members { self.waits[Int(number)] = true }
                left += added
                continue
            }
            for number in members { parts.numbers.append(number) }
            parts.numbers.close()
            parts.weights.append(added)
        }
        // A record that is deleted by name and has gone before brings no step to the last transaction.
        let rootsLeft = self.roots.count { self.waits[Int($0)] }
        return left <= room + rootsLeft ? parts : nil
    }

    private var components: NumberLists {
        let count = self.isGoing.count
        var order = [Int32](repeating: -1, count: count)
        var least = [Int32](repeating: 0, count: count)
        var isOnStack = [Bool](repeating: false, count: count)
        var stack: [Int32] = []
        var components = NumberLists()
        var next: Int32 = 0
        for start in 0..<count where self.isGoing[start] && order[start] < 0 {
            var visits: [Visit] = []
            func enter(_ number: Int32) {
                order[Int(number)] = next
                least[Int(number)] = next
                next += 1
                stack.append(number)
                isOnStack[Int(number)] = true
                visits.append(Visit(number: number, nextReferrer: self.referrers[Int(number)].startIndex))
            }
            enter(Int32(start))
            while let visit = visits.last {
                let number = Int(visit.number)
                let referrers = self.referrers[number]
                if visit.nextReferrer < referrers.endIndex {
                    visits[visits.count - 1].nextReferrer += 1
                    let referrer = referrers[visit.nextReferrer]
                    if order[Int(referrer)] < 0 {
                        enter(referrer)
                    } else if isOnStack[Int(referrer)] {
                        least[number] = min(least[number], order[Int(referrer)])
                    }
                    continue
                }
                visits.removeLast()
                if let below = visits.last.map({ Int($0.number) }) {
                    least[below] = min(least[below], least[number])
                }
                guard least[number] == order[number] else { continue }
                while let member = stack.popLast() {
                    isOnStack[Int(member)] = false
                    components.append(member)
                    if member == visit.number { break }
                }
                components.close()
            }
        }
        return components
    }
}
