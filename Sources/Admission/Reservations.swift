import RecordModel

/// A schedule of reservations: a rejected request may return when its own begins.
///
/// Reservations follow each other. Each is as long as its work takes at half the pace. Times are
/// nanoseconds of a monotonic clock.
struct Reservations: Sendable {
    /// The reservations that a returning request finds.
    enum Found: Hashable {
        /// No reservation that would admit it.
        case nothing
        /// A reservation for this request that begins after this time.
        case early(nanoseconds: Int64)
        /// One or several reservations that have begun.
        case open
    }

    /// The maximum time from now until a reservation begins.
    static let horizonNanoseconds = Int64(Bounds.reservationMillisecondsMax) * 1_000_000
    /// The time for which a reservation stays valid after its beginning.
    static let graceNanoseconds = Int64(Bounds.reservationGraceMilliseconds) * 1_000_000
    /// No reservation begins sooner, because the requests that wait have to be executed first.
    static let soonestNanoseconds: Int64 = 100_000_000
    /// Bound on the reservations of one user.
    static let perHolderMax = 256
    /// Up to this number, a user is taken to send few requests at a time.
    ///
    /// The next request of such a user may be a rejected one in another form.
    static let perOccasionalHolderMax = 3
    /// One user may have the schedule's length divided by this.
    static let holderPart: Int64 = 8
    /// Bound on the reservations of all users.
    static let reservationsMax = 65_536
    static let sweepNanoseconds: Int64 = 250_000_000
    /// The part of the pace that is reserved.
    ///
    /// The rest is for requests without a reservation.
    static let share = 0.5

    private struct Reservation {
        let opens: Int64
        let length: Int64
        let work: Int
        let mark: UInt64
    }

    /// Each user's reservations, in the order of their beginnings.
    private var reservations: [AccountHolder: [Reservation]] = [:]
    private(set) var count = 0
    private var scheduleEnd: Int64 = .min
    /// When all reservations may be swept again, which takes a millisecond.
    private var nextSweep: Int64 = .min
    /// When the last reservation expires.
    private var lastOver: Int64 = .min

    var isEmpty: Bool { self.count == 0 }

    /// Returns the reservation that admits a request now.
    ///
    /// If there is none for this request, takes the oldest started reservations of the same user
    /// until they cover the request's work. A user with many reservations sends many requests in
    /// parallel. So an unknown request of such a user may only take reservations that have been
    /// unclaimed for a second.
    ///
    /// `mark` is a hash that identifies the request when it is sent again, or 0. `isUsed` says that
    /// the request is admitted, which uses up the reservations found. A request that is admitted
    /// because there is room, before its reservation begins, releases the reservation.
    mutating func find(
        _ holder: AccountHolder,
        mark: UInt64,
        work: Int,
        isUsed: Bool,
        now: Int64
    ) -> Found {
        guard let index = self.reservations.index(forKey: holder) else { return .nothing }
        self.forgetOver(at: index, now)
        defer { if self.reservations.values[index].isEmpty { self.reservations.remove(at: index) } }
        if mark != 0, let at = self.reservations.values[index].firstIndex(where: { $0.mark == mark }) {
            let reservation = self.reservations.values[index][at]
            if isUsed, reservation.opens > now || reservation.work >= work {
                self.remove(at..<at + 1, of: index)
            }
            if reservation.opens > now { return .early(nanoseconds: reservation.opens - now) }
            if reservation.work >= work { return .open }
        }
        let isBusy = self.reservations.values[index].count > Self.perOccasionalHolderMax
        let begun = isBusy ? now - Self.graceNanoseconds / 2 : now
        var sum = 0
        var used = 0
        for reservation in self.reservations.values[index] {
            guard sum < work, reservation.opens <= begun else { break }
            sum += reservation.work
            used += 1
        }
        guard sum >= work else { return .nothing }
        if isUsed { self.remove(0..<used, of: index) }
        return .open
    }

    private mutating func remove(
        _ range: Range<Int>,
        of index: Dictionary<AccountHolder, [Reservation]>.Index
    ) {
        self.reservations.values[index].removeSubrange(range)
        self.count -= range.count
    }

    /// Gives a user the next reservation, as long as the work takes at `unitNanoseconds` per unit.
    ///
    /// - Returns: Nanoseconds until it begins, or `nil` if there is none for this user.
    mutating func reserve(
        _ holder: AccountHolder,
        mark: UInt64,
        work: Int,
        unitNanoseconds: Double,
        now: Int64
    ) -> Int64? {
        if self.count >= Self.reservationsMax, now >= self.nextSweep {
            self.nextSweep = now + Self.sweepNanoseconds
            self.forgetOver(now)
        }
        let length = Int64(
            min(Double(work) * unitNanoseconds / Self.share, Double(Self.horizonNanoseconds))
        )
        let opens = max(now + Self.soonestNanoseconds, self.scheduleEnd)
        guard self.count < Self.reservationsMax, opens - now <= Self.horizonNanoseconds else { return nil }
        let isPermitted = self.reservations[holder].map { own in
            let reserved = own.reduce(length) { $0 + $1.length }
            return own.count < Self.perHolderMax && reserved <= Self.horizonNanoseconds / Self.holderPart
        }
        guard isPermitted ?? true else { return nil }
        self.reservations[holder, default: []].append(
            Reservation(opens: opens, length: length, work: work, mark: mark)
        )
        self.count += 1
        self.scheduleEnd = opens + length
        self.lastOver = opens + Self.graceNanoseconds
        return opens - now
    }

    /// Frees the memory once all reservations have expired.
    mutating func forgetIfAllOver(_ now: Int64) {
        guard self.count > 0, self.lastOver < now else { return }
        self.reservations = [:]
        self.count = 0
    }

    private mutating func forgetOver(_ now: Int64) {
        self.reservations = self.reservations.compactMapValues { own in
            let kept = own.filter { $0.opens + Self.graceNanoseconds >= now }
            return kept.isEmpty ? nil : kept
        }
        self.count = self.reservations.values.reduce(0) { $0 + $1.count }
    }

    private mutating func forgetOver(
        at index: Dictionary<AccountHolder, [Reservation]>.Index,
        _ now: Int64
    ) {
        let over = self.reservations.values[index].prefix { $0.opens + Self.graceNanoseconds < now }.count
        guard over > 0 else { return }
        self.reservations.values[index].removeFirst(over)
        self.count -= over
    }
}
