/// A queue that serves its holders in turns, so that one holder delays the others by one turn at
/// most.
///
/// The algorithm is surplus round robin: deficit round robin (Shreedhar and Varghese, 1995) in the
/// form in which a cost may become known after the service. In each round, every holder with
/// waiting elements gets a quantum and is served until it is used up. A service that costs more is
/// charged to the holder's next rounds. A holder that arrives during a round waits for the next
/// one. The elements of one holder are served in the order in which they came.
///
/// With a single holder it is a FIFO queue. Both ends take constant time, except that a new round
/// looks at each holder once.
///
/// The queue may be specialised in other modules: through witness tables a request took 2 µs more.
/// For that the type itself has to be `@usableFromInline`, not only its members.
@usableFromInline
package struct TurnQueue<Holder: Hashable, Element> {
    @usableFromInline
    struct Waiting {
        @usableFromInline let element: Element
        @usableFromInline let cost: Int

        @inlinable
        init(element: Element, cost: Int) {
            self.element = element
            self.cost = cost
        }
    }

    /// The waiting elements of one holder, and its balance.
    @usableFromInline
    struct Lane {
        @usableFromInline let holder: Holder
        @usableFromInline var waiting: [Waiting] = []
        /// Index of the next element; those before it were served.
        @usableFromInline var first = 0
        @usableFromInline var cost = 0
        /// The holder may be served in this round while it is above 0.
        @usableFromInline var balance = 0

        @inlinable
        init(holder: Holder) {
            self.holder = holder
        }

        @inlinable var isEmpty: Bool { self.first == self.waiting.count }

        @inlinable
        mutating func insertFirst(_ next: Waiting) {
            if self.first > 0 {
                self.first -= 1
                self.waiting[self.first] = next
            } else {
                self.waiting.insert(next, at: 0)
            }
        }

        @inlinable
        mutating func removeFirst() -> Waiting {
            let next = self.waiting[self.first]
            self.first += 1
            self.cost -= next.cost
            if self.first == self.waiting.count {
                self.waiting.removeAll(keepingCapacity: self.waiting.capacity <= 64)
                self.first = 0
            } else if self.first >= 64, self.first * 2 > self.waiting.count {
                self.waiting.removeFirst(self.first)
                self.first = 0
            }
            return next
        }
    }

    /// The cost that each holder may be served in a round.
    @usableFromInline let quantum: Int
    /// In the order of their turns.
    @usableFromInline var lanes: [Lane] = []
    @usableFromInline var laneIndices: [Holder: Int] = [:]
    /// Index of the lane that has the turn.
    ///
    /// Those before it had theirs in this round.
    @usableFromInline var turn = 0

    /// Number of waiting elements.
    @usableFromInline package internal(set) var count = 0
    /// Cost of all waiting elements, as given when they were added.
    @usableFromInline package internal(set) var cost = 0
    /// Number of holders with waiting elements.
    @usableFromInline package internal(set) var holders = 0

    /// - Parameter quantum: The cost that each holder may be served in a round; at least 1. A round
    ///   should take a few milliseconds at most.
    @inlinable
    package init(quantum: Int) {
        precondition(quantum > 0)
        self.quantum = quantum
    }

    @inlinable package var isEmpty: Bool { self.count == 0 }

    /// Number of waiting elements of a holder.
    @inlinable
    package func count(of holder: Holder) -> Int {
        self.laneIndices[holder].map { self.lanes[$0].waiting.count - self.lanes[$0].first } ?? 0
    }

    /// Cost of a holder's waiting elements, as given when they were added.
    @inlinable
    package func cost(of holder: Holder) -> Int {
        self.laneIndices[holder].map { self.lanes[$0].cost } ?? 0
    }

    /// Adds an element behind the others of its holder.
    ///
    /// A cost counts as 1 at least, or a holder could be served forever. A cost that is not known
    /// yet is charged later.
    @inlinable
    package mutating func append(_ element: Element, of holder: Holder, cost: Int) {
        let cost = max(1, cost)
        let index = self.laneIndex(of: holder)
        if self.lanes[index].isEmpty { self.holders += 1 }
        self.lanes[index].waiting.append(Waiting(element: element, cost: cost))
        self.lanes[index].cost += cost
        self.count += 1
        self.cost += cost
    }

    /// Puts an element that was taken but not served back to the front of its holder's, and returns
    /// its cost.
    @inlinable
    package mutating func putBack(_ element: Element, of holder: Holder, cost: Int) {
        let cost = max(1, cost)
        let index = self.laneIndex(of: holder)
        if self.lanes[index].isEmpty { self.holders += 1 }
        self.lanes[index].insertFirst(Waiting(element: element, cost: cost))
        self.lanes[index].cost += cost
        self.lanes[index].balance += cost
        self.count += 1
        self.cost += cost
    }

    /// Takes the next element and charges its holder with its cost.
    ///
    /// Returns `nil` if the queue is empty.
    @inlinable
    package mutating func popFirst() -> Element? { self.popFirst { _ in true } }

    /// Takes the next element if it satisfies the condition.
    ///
    /// Returns `nil` if it does not, or if the queue is empty.
    @inlinable
    package mutating func popFirst(where isWanted: (Element) -> Bool) -> Element? {
        guard self.findTurn() else { return nil }
        let first = self.lanes[self.turn].first
        guard isWanted(self.lanes[self.turn].waiting[first].element) else { return nil }
        let next = self.lanes[self.turn].removeFirst()
        self.lanes[self.turn].balance -= next.cost
        if self.lanes[self.turn].isEmpty { self.holders -= 1 }
        self.count -= 1
        self.cost -= next.cost
        return next.element
    }

    /// Charges a holder with the part of a cost that was not known before.
    ///
    /// A negative cost is a refund.
    ///
    /// Has no effect on an empty queue, because no holder was delayed.
    @inlinable
    package mutating func charge(_ cost: Int, of holder: Holder) {
        guard self.count > 0, cost != 0 else { return }
        self.lanes[self.laneIndex(of: holder)].balance -= cost
    }

    @inlinable
    mutating func laneIndex(of holder: Holder) -> Int {
        if self.count == 0 { self.forgetDebts(exceptLaneOf: holder) }
        if self.turn < self.lanes.count, self.lanes[self.turn].holder == holder { return self.turn }
        if let index = self.laneIndices[holder] { return index }
        self.laneIndices[holder] = self.lanes.count
        self.lanes.append(Lane(holder: holder))
        return self.lanes.count - 1
    }

    /// Advances to the holder that has the turn, and begins rounds as needed.
    @inlinable
    mutating func findTurn() -> Bool {
        guard self.count > 0 else { return false }
        while true {
            while self.turn < self.lanes.count {
                if !self.lanes[self.turn].isEmpty, self.lanes[self.turn].balance > 0 { return true }
                self.turn += 1
            }
            self.beginRound()
        }
    }

    /// Gives every holder a quantum, or as many as it takes until a waiting holder may be served.
    @inlinable
    mutating func beginRound() {
        self.turn = 0
        var rounds = Int.max
        for lane in self.lanes where !lane.isEmpty {
            rounds = min(rounds, max(0, -lane.balance) / self.quantum + 1)
        }
        var isAnyGone = false
        for index in self.lanes.indices {
            // An unused rest is not saved for later rounds.
            self.lanes[index].balance = min(self.lanes[index].balance, 0) + rounds * self.quantum
            if self.lanes[index].isEmpty, self.lanes[index].balance >= 0 { isAnyGone = true }
        }
        guard isAnyGone else { return }
        // Forget holders without debts and without waiting elements.
        self.lanes.removeAll { $0.isEmpty && $0.balance >= 0 }
        self.laneIndices.removeAll(keepingCapacity: true)
        for (index, lane) in self.lanes.enumerated() { self.laneIndices[lane.holder] = index }
    }

    /// Resets all balances: no holder was delayed while the queue was empty.
    @inlinable
    mutating func forgetDebts(exceptLaneOf holder: Holder) {
        self.turn = 0
        if self.lanes.count == 1, self.lanes[0].holder == holder {
            self.lanes[0].balance = 0
        } else {
            self.lanes.removeAll(keepingCapacity: self.lanes.count <= 64)
            self.laneIndices.removeAll(keepingCapacity: self.lanes.capacity <= 64)
        }
    }
}

extension TurnQueue: Sendable where Holder: Sendable, Element: Sendable {}
extension TurnQueue.Waiting: Sendable where Holder: Sendable, Element: Sendable {}
extension TurnQueue.Lane: Sendable where Holder: Sendable, Element: Sendable {}
