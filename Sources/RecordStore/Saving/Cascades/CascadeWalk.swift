import RecordModel
import StorageContract

/// Records that go with the deletes of a zone, and referrers that keep records.
///
/// It is found lookup by lookup, so the walk can be cut into turns.
///
/// Records have numbers in the order in which they were found. Those that go with the first delete
/// come first, the nearest before the others; then those of the second that are not among them, and
/// so on. Changes made during the walk are found when a record goes.
///
/// The walk is an object, because a copy in each turn would cost as much as all earlier turns
/// found. It only reads, so it loses nothing if a turn is rolled back.
///
/// SAFETY: a request has one, and its turns are executed one after the other.
final class CascadeWalk: @unchecked Sendable {
    /// A delete of a record that exists.
    struct Root: Sendable {
        /// The index of the item.
        let index: Int
        let name: String
        /// Its number in the walk; `nil` if it was not looked up, or was refused.
        fileprivate(set) var number: Int32?
    }

    /// A record that keeps another from going, unless it goes as well.
    struct Keeper: Sendable {
        let kept: Int32
        let name: String
    }

    /// The references that the request's saves change.
    struct Saved: Sendable {
        var names: Set<ExactName> = []
        /// By the name of the target.
        var referrers: [ExactName: [Referrer]] = [:]
    }

    /// The number of referrers that cost as much as one lookup.
    private static let referrersPerStep = 8

    let saved: Saved
    private let recordsMax: Int
    private(set) var roots: [Root]
    /// By number.
    private(set) var names: [String] = []
    private(set) var numbers: [ExactName: Int32] = [:]
    /// By number: what refers to a record and goes with it.
    private(set) var referrers = NumberLists()
    /// By number: the steps that it took to find them.
    private(set) var weights: [Int] = []
    private(set) var keepers: [Keeper] = []
    /// Records that have a referrer which neither goes along nor keeps them, or that the request
    /// saves.
    private(set) var bound: [Int32] = []
    /// Deletes that were refused, by number of the item.
    private(set) var refused: [Int: StoreError] = [:]
    /// Deletes that failed, by record name.
    private var failed: [ExactName: Int]
    private var nextRoot = 0
    /// The weight of the record that is being looked up.
    private var weight = 0
    /// The last referrer that was found of it.
    private var behind = ""
    private var start = Start()

    /// The state of the walk before a root.
    private struct Start {
        var names = 0
        var keepers = 0
        var bound = 0
    }

    /// Begins; `failed`: deletes of the zone that have failed already, by record name.
    ///
    /// `recordsMax`: how many records may go, or keep others from going.
    init(_ roots: [Root], saved: Saved, failed: [ExactName: Int], recordsMax: Int) {
        self.roots = roots
        self.saved = saved
        self.failed = failed
        self.recordsMax = recordsMax
    }

    /// Makes room for all that it may find: 50,000 names that find their place anew take 20 ms of one turn.
    func reserveRoom() { self.numbers.reserveCapacity(self.recordsMax) }

    /// How much there is to go through, once all is found.
    var size: Int { self.names.count + self.keepers.count }

    /// Looks up until all is found, or the steps are used up; returns whether all is found.
    ///
    /// A delete that would take along too much is refused, and the records found for it are
    /// forgotten.
    func goOn(
        steps: inout Int,
        _ referrersOf: ReferrerPages.Read
    ) throws(StorageFailure) -> Bool {
        while true {
            guard self.referrers.count < self.names.count else {
                guard self.nextRoot < self.roots.count else { return true }
                self.beginRoot()
                continue
            }
            guard steps > 0 else { return false }
            let targets = self.names[self.referrers.count...].prefix(steps)
            var pages = ReferrerPages(of: targets, behind: self.behind)
            for part in try pages.next(referrersOf) ?? [] {
                let cost = 1 + part.referrers.count / Self.referrersPerStep
                steps -= cost
                self.weight += cost
                self.add(part, of: self.names[self.referrers.count])
                guard self.size > self.recordsMax else { continue }
                self.dropRoot()
                break
            }
        }
    }

    private func beginRoot() {
        self.start = Start(names: self.names.count, keepers: self.keepers.count, bound: self.bound.count)
        self.roots[self.nextRoot].number = self.number(of: self.roots[self.nextRoot].name)
        self.nextRoot += 1
    }

    private func dropRoot() {
        for name in self.names[self.start.names...] { self.numbers[ExactName(name)] = nil }
        self.names.removeLast(self.names.count - self.start.names)
        self.referrers.removeAll(behind: self.start.names)
        self.weights.removeLast(self.weights.count - self.start.names)
        self.keepers.removeLast(self.keepers.count - self.start.keepers)
        self.bound.removeLast(self.bound.count - self.start.bound)
        self.weight = 0
        self.behind = ""
        let root = self.roots[self.nextRoot - 1]
        self.refuse(self.nextRoot - 1, .referenceLimit(target: root.name))
    }

    private func add(_ part: ReferrerPages.Part, of name: String) {
        for referrer in part.referrers {
            if self.saved.names.contains(referrer.name) {
                self.bound.append(Int32(self.referrers.count))
            } else {
                self.add(referrer)
            }
        }
        if !part.isLast, let last = part.referrers.last {
            self.behind = last.name
            return
        }
        for referrer in self.saved.referrers[ExactName(name)] ?? [] { self.add(referrer) }
        self.behind = ""
        self.weights.append(self.weight)
        self.weight = 0
        self.referrers.close()
    }

    private func add(_ referrer: Referrer) {
        let target = Int32(self.referrers.count)
        if referrer.kinds.contains(.deleteSelf), !NameRules.isUserRecordName(referrer.name) {
            self.referrers.append(self.number(of: referrer.name))
        } else if !referrer.kinds.isDisjoint(with: .keeping) {
            self.keepers.append(Keeper(kept: target, name: referrer.name))
        } else {
            self.bound.append(target)
        }
    }

    private func number(of name: String) -> Int32 {
        if let known = self.numbers[ExactName(name)] { return known }
        let number = Int32(self.names.count)
        self.numbers[ExactName(name)] = number
        self.names.append(name)
        return number
    }

    private func refuse(_ index: Int, _ error: StoreError) {
        let root = self.roots[index]
        self.roots[index].number = nil
        self.refused[root.index] = error
        self.failed[ExactName(root.name)] = root.index
    }

    // MARK: - Once all is found

    /// By number: whether a delete that is not refused takes it along.
    var going: [Bool] {
        var isGoing = [Bool](repeating: false, count: self.names.count)
        for root in self.roots {
            if let number = root.number { _ = self.take(number, &isGoing) }
        }
        return isGoing
    }

    /// The records that go with each delete that is not refused, by number of the item.
    ///
    /// A delete has those that go with it and with none before it, the farthest last.
    var cascades: [Int: [String]] {
        var isTaken = [Bool](repeating: false, count: self.names.count)
        var cascades: [Int: [String]] = [:]
        for root in self.roots {
            guard let number = root.number else { continue }
            cascades[root.index] = self.take(number, &isTaken).map { self.names[Int($0)] }
        }
        return cascades
    }

    private func take(_ root: Int32, _ isTaken: inout [Bool]) -> [Int32] {
        guard !isTaken[Int(root)] else { return [] }
        isTaken[Int(root)] = true
        var taken = [root]
        var next = 0
        while next < taken.count {
            for referrer in self.referrers[Int(taken[next])] where !isTaken[Int(referrer)] {
                isTaken[Int(referrer)] = true
                taken.append(referrer)
            }
            next += 1
        }
        return taken
    }

    /// Refuses deletes that would leave a reference dangling; returns whether all were judged.
    ///
    /// A delete that is refused stays, and its record may keep another. Hence the rounds: each
    /// refuses at least one delete. There may be more rounds than one turn takes.
    func settle() -> Bool {
        guard !self.keepers.isEmpty else { return true }
        let keepers = self.keepers.map { self.numbers[ExactName($0.name)] }
        let targets = self.referrers.reversed(count: self.names.count)
        for _ in 0...(Self.settledMax / self.size) {
            let isGoing = self.going
            // By number: the keeper that makes the record stay.
            var reasons = [Int32](repeating: -1, count: self.names.count)
            for (index, keeper) in self.keepers.enumerated() {
                if let number = keepers[index], isGoing[Int(number)] { continue }
                Self.spread(Int32(index), from: keeper.kept, to: targets, &reasons)
            }
            var hasRefused = false
            for (index, root) in self.roots.enumerated() {
                guard let number = root.number, reasons[Int(number)] >= 0 else { continue }
                self.refuse(index, becauseOf: self.keepers[Int(reasons[Int(number)])].name)
                hasRefused = true
            }
            if !hasRefused { return true }
        }
        return false
    }

    /// Records that are gone through in one turn while deletes are refused.
    private static let settledMax = 400_000

    private func refuse(_ index: Int, becauseOf keeper: String) {
        if let culprit = self.failed[ExactName(keeper)] {
            self.refuse(index, .dependsOn(index: culprit))
        } else {
            self.refuse(index, .referenceWouldDangle(referrer: keeper))
        }
    }

    private static func spread(
        _ reason: Int32,
        from number: Int32,
        to targets: NumberLists,
        _ reasons: inout [Int32]
    ) {
        guard reasons[Int(number)] < 0 else { return }
        reasons[Int(number)] = reason
        var next = [number]
        while let number = next.popLast() {
            for target in targets[Int(number)] where reasons[Int(target)] < 0 {
                reasons[Int(target)] = reason
                next.append(target)
            }
        }
    }

    /// Refuses all deletes that take something along.
    func refuseTakers() {
        for (index, root) in self.roots.enumerated() {
            guard let number = root.number, !self.referrers[Int(number)].isEmpty else { continue }
            self.refuse(index, .referenceLimit(target: root.name))
        }
    }
}
