import RecordModel

/// Places in the schedule of whoever executes: who was refused may come at the beginning of his.
///
/// Places follow each other, each as long as its work takes at half the pace. Times are nanoseconds of a clock that only goes forward.
struct Reservations: Sendable {
    /// What somebody who comes has.
    enum Found: Hashable {
        /// Nothing that would admit him.
        case nothing
        /// A place for this request, so many nanoseconds later.
        case early(nanoseconds: Int64)
        /// A place that has begun, or several; they are used up.
        case open
    }

    /// How far ahead a place may begin.
    static let horizonNanoseconds = Int64(Bounds.reservationMillisecondsMax) * 1_000_000
    /// How long after its beginning a place is good.
    static let graceNanoseconds = Int64(Bounds.reservationGraceMilliseconds) * 1_000_000
    /// No place begins sooner than that: what stands has to be executed first.
    static let soonestNanoseconds: Int64 = 100_000_000
    /// Places of one holder.
    static let placesOfOneMax = 256
    /// Places of somebody who makes a few requests at a time, whose next may be another form of one that was refused.
    static let placesOfFewMax = 3
    /// The schedule's part that one holder may have.
    static let partOfOne: Int64 = 8
    /// All places.
    static let placesMax = 65_536
    static let sweepNanoseconds: Int64 = 250_000_000
    /// What of the pace is handed out; the rest is for those who come without a place.
    static let share = 0.5

    private struct Place {
        let opens: Int64
        let length: Int64
        let work: Int
        let mark: UInt64
    }

    /// In the order of their beginnings.
    private var places: [AccountHolder: [Place]] = [:]
    private(set) var count = 0
    private var scheduleEnd: Int64 = .min
    /// When all places may be looked through again, which takes a millisecond.
    private var nextSweep: Int64 = .min
    /// When the last place that was given is over.
    private var lastOver: Int64 = .min

    var isEmpty: Bool { self.count == 0 }

    /// Looks for what admits a request of a holder now.
    ///
    /// The place that was given for this request, or as many that have begun, the oldest first, as have its work together. Who has many places makes many requests at a time: one that is
    /// not known takes those only that nobody has come for in a second.
    ///
    /// The mark is what the request is known by when it comes again; 0: nothing. `isUsed`: it is admitted by what is found, which nobody can use again; or, when nothing has begun, by room that there
    /// is: then a place of its own is given back.
    mutating func find(
        _ holder: AccountHolder,
        mark: UInt64,
        work: Int,
        isUsed: Bool,
        now: Int64
    ) -> Found {
        guard let index = self.places.index(forKey: holder) else { return .nothing }
        self.forgetOver(at: index, now)
        defer { if self.places.values[index].isEmpty { self.places.remove(at: index) } }
        if mark != 0, let at = self.places.values[index].firstIndex(where: { $0.mark == mark }) {
            let place = self.places.values[index][at]
            if isUsed, place.opens > now || place.work >= work { self.remove(at..<at + 1, of: index) }
            if place.opens > now { return .early(nanoseconds: place.opens - now) }
            if place.work >= work { return .open }
        }
        let isBusy = self.places.values[index].count > Self.placesOfFewMax
        let begun = isBusy ? now - Self.graceNanoseconds / 2 : now
        var sum = 0
        var used = 0
        for place in self.places.values[index] {
            guard sum < work, place.opens <= begun else { break }
            sum += place.work
            used += 1
        }
        guard sum >= work else { return .nothing }
        if isUsed { self.remove(0..<used, of: index) }
        return .open
    }

    private mutating func remove(
        _ range: Range<Int>,
        of index: Dictionary<AccountHolder, [Place]>.Index
    ) {
        self.places.values[index].removeSubrange(range)
        self.count -= range.count
    }

    /// Gives a holder the next place, as long as the work takes at `unitNanoseconds` each: nanoseconds until it begins; `nil`: there is none for him.
    mutating func reserve(
        _ holder: AccountHolder,
        mark: UInt64,
        work: Int,
        unitNanoseconds: Double,
        now: Int64
    ) -> Int64? {
        if self.count >= Self.placesMax, now >= self.nextSweep {
            self.nextSweep = now + Self.sweepNanoseconds
            self.forgetOver(now)
        }
        let length = Int64(
            min(Double(work) * unitNanoseconds / Self.share, Double(Self.horizonNanoseconds))
        )
        let opens = max(now + Self.soonestNanoseconds, self.scheduleEnd)
        guard self.count < Self.placesMax, opens - now <= Self.horizonNanoseconds else { return nil }
        let isPermitted = self.places[holder].map { own in
            let reserved = own.reduce(length) { $0 + $1.length }
            return own.count < Self.placesOfOneMax && reserved <= Self.horizonNanoseconds / Self.partOfOne
        }
        guard isPermitted ?? true else { return nil }
        self.places[holder, default: []].append(Place(opens: opens, length: length, work: work, mark: mark))
        self.count += 1
        self.scheduleEnd = opens + length
        self.lastOver = opens + Self.graceNanoseconds
        return opens - now
    }

    /// Frees the memory when all places are over.
    mutating func forgetIfAllOver(_ now: Int64) {
        guard self.count > 0, self.lastOver < now else { return }
        self.places = [:]
        self.count = 0
    }

    private mutating func forgetOver(_ now: Int64) {
        self.places = self.places.compactMapValues { own in
            let kept = own.filter { $0.opens + Self.graceNanoseconds >= now }
            return kept.isEmpty ? nil : kept
        }
        self.count = self.places.values.reduce(0) { $0 + $1.count }
    }

    private mutating func forgetOver(
        at index: Dictionary<AccountHolder, [Place]>.Index,
        _ now: Int64
    ) {
        let over = self.places.values[index].prefix { $0.opens + Self.graceNanoseconds < now }.count
        guard over > 0 else { return }
        self.places.values[index].removeFirst(over)
        self.count -= over
    }
}
