/// What waits, in turns by holder, so that what one holder asks for delays nobody else by more than a turn.
///
/// Surplus round robin: deficit round robin (Shreedhar and Varghese, 1995) in the form in which a cost may become known after the service.
/// In each round every holder who has something waiting is given a quantum, and is served while that is not used up; what a service costs
/// beyond it is taken from the holder's next rounds. A holder who was not there when a round began waits for the next one. What one
/// holder has waiting is served in the order in which it came.
///
/// With a single holder it is a queue, first in, first out. Both ends take constant time, but for a round, which looks at each holder once.
///
/// It may be specialised by whoever uses it: through witnesses a request took two microseconds more. For that the type itself has to be
/// `@usableFromInline`, not only its members.
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

    /// What one holder has waiting, and may be served of it.
    @usableFromInline
    struct Lane {
        @usableFromInline let holder: Holder
        @usableFromInline var waiting: [Waiting] = []
        /// Those before it were served.
        @usableFromInline var first = 0
        @usableFromInline var cost = 0
        /// Above 0: may be served in this round.
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

    /// What each holder may be served in a round, in the unit of the costs.
    @usableFromInline let quantum: Int
    /// In the order of their turns.
    @usableFromInline var lanes: [Lane] = []
    @usableFromInline var places: [Holder: Int] = [:]
    /// Whose turn it is; those before had theirs in this round.
    @usableFromInline var turn = 0

    /// How much waits.
    @usableFromInline package internal(set) var count = 0
    /// What that costs, as far as it was said when it came.
    @usableFromInline package internal(set) var cost = 0
    /// How many holders have something waiting.
    @usableFromInline package internal(set) var holders = 0

    /// - Parameter quantum: What each holder may be served in a round, in the unit of the costs; at least 1. A round should take a few
    ///   milliseconds at most.
    @inlinable
    package init(quantum: Int) {
        precondition(quantum > 0)
        self.quantum = quantum
    }

    @inlinable package var isEmpty: Bool { self.count == 0 }

    /// How much a holder has waiting.
    @inlinable
    package func count(of holder: Holder) -> Int {
        self.places[holder].map { self.lanes[$0].waiting.count - self.lanes[$0].first } ?? 0
    }

    /// What it costs that a holder has waiting, as far as it was said when it came.
    @inlinable
    package func cost(of holder: Holder) -> Int {
        self.places[holder].map { self.lanes[$0].cost } ?? 0
    }

    /// Adds something at the end of what its holder has waiting.
    ///
    /// A cost counts as 1 at least, or a holder could be served for ever; what is not known yet is charged later.
    @inlinable
    package mutating func append(_ element: Element, of holder: Holder, cost: Int) {
        let cost = max(1, cost)
        let place = self.place(of: holder)
        if self.lanes[place].isEmpty { self.holders += 1 }
        self.lanes[place].waiting.append(Waiting(element: element, cost: cost))
        self.lanes[place].cost += cost
        self.count += 1
        self.cost += cost
    }

    /// Puts back at the head of what its holder has waiting what was taken and not served, and gives back its cost.
    @inlinable
    package mutating func putBack(_ element: Element, of holder: Holder, cost: Int) {
        let cost = max(1, cost)
        let place = self.place(of: holder)
        if self.lanes[place].isEmpty { self.holders += 1 }
        self.lanes[place].insertFirst(Waiting(element: element, cost: cost))
        self.lanes[place].cost += cost
        self.lanes[place].balance += cost
        self.count += 1
        self.cost += cost
    }

    /// Takes what is next, and charges its holder with its cost; `nil`: nothing waits.
    @inlinable
    package mutating func popFirst() -> Element? { self.popFirst { _ in true } }

    /// Takes what is next if it is wanted; `nil`: it is not, or nothing waits.
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

    /// Charges a holder with what a service cost beyond what was said, or gives back what it cost less.
    ///
    /// Of no account when nothing waits: then nobody was delayed.
    @inlinable
    package mutating func charge(_ cost: Int, of holder: Holder) {
        guard self.count > 0, cost != 0 else { return }
        self.lanes[self.place(of: holder)].balance -= cost
    }

    @inlinable
    mutating func place(of holder: Holder) -> Int {
        if self.count == 0 { self.forgetDebts(exceptLaneOf: holder) }
        if self.turn < self.lanes.count, self.lanes[self.turn].holder == holder { return self.turn }
        if let place = self.places[holder] { return place }
        self.places[holder] = self.lanes.count
        self.lanes.append(Lane(holder: holder))
        return self.lanes.count - 1
    }

    /// Goes on to the holder whose turn it is, beginning rounds as they are needed.
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

    /// Gives every holder a quantum, or as many as it takes until somebody who waits may be served.
    @inlinable
    mutating func beginRound() {
        self.turn = 0
        var rounds = Int.max
        for lane in self.lanes where !lane.isEmpty {
            rounds = min(rounds, max(0, -lane.balance) / self.quantum + 1)
        }
        var isAnyGone = false
        for place in self.lanes.indices {
            // What was not used up is not saved for later.
            self.lanes[place].balance = min(self.lanes[place].balance, 0) + rounds * self.quantum
            if self.lanes[place].isEmpty, self.lanes[place].balance >= 0 { isAnyGone = true }
        }
        guard isAnyGone else { return }
        // Those who owe nothing and want nothing are forgotten.
        self.lanes.removeAll { $0.isEmpty && $0.balance >= 0 }
        self.places.removeAll(keepingCapacity: true)
        for (place, lane) in self.lanes.enumerated() { self.places[lane.holder] = place }
    }

    /// Begins anew: while nothing waited nobody was delayed.
    @inlinable
    mutating func forgetDebts(exceptLaneOf holder: Holder) {
        self.turn = 0
        if self.lanes.count == 1, self.lanes[0].holder == holder {
            self.lanes[0].balance = 0
        } else {
            self.lanes.removeAll(keepingCapacity: self.lanes.count <= 64)
            self.places.removeAll(keepingCapacity: self.lanes.capacity <= 64)
        }
    }
}

extension TurnQueue: Sendable where Holder: Sendable, Element: Sendable {}
extension TurnQueue.Waiting: Sendable where Holder: Sendable, Element: Sendable {}
extension TurnQueue.Lane: Sendable where Holder: Sendable, Element: Sendable {}
