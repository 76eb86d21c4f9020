import RecordModel

/// Decides who may wait for threads that execute one request after the other, and when the others should come.
///
///     calm     everybody may wait
///       │ more than the limit has been ahead for 100 ms, or the queue is full        ▲ nobody was refused for 100 ms
///       ▼                                                                            │
///     crowded  who finds room below the limit, or has a reservation, may wait; others are refused and get one
///
/// The limit is the work that can be executed in the time of `Settings`. Knows no clock: times are nanoseconds of one that only goes forward.
package struct OverloadRule: Sendable {
    package struct Settings: Hashable, Sendable {
        /// How long what is ahead of a newcomer may take to execute.
        package var waitNanoseconds: Int64
        /// Threads that execute side by side.
        package var lanes: Int
        /// So many requests may be ahead whatever they take: a few clients with large ones are no overload.
        package var requestsMin: Int

        package init(waitNanoseconds: Int64, lanes: Int, requestsMin: Int) {
            self.waitNanoseconds = waitNanoseconds
            self.lanes = lanes
            self.requestsMin = requestsMin
        }
    }

    package enum OnArrival: Hashable, Sendable {
        case admit
        /// At most `retryMillisecondsMax`: a reservation. More: none could be given.
        case refuse(retryAfterMilliseconds: UInt32)
    }

    /// Exits: `crowded`, from `calm`; `calm`, from `crowded`.
    private enum State {
        /// With the moment since which more than the limit has been ahead, if it has.
        case calm(aboveSince: Int64?)
        case crowded(lastRefusal: Int64)
    }

    /// The longest time that is a reservation.
    package static let retryMillisecondsMax = UInt32(Bounds.reservationMillisecondsMax)
    /// When to look again whether a queue is still full.
    private static let fullWait: Int64 = 1_000_000
    /// How long more than the limit may be ahead before anybody is refused.
    private static let standingNanoseconds: Int64 = 100_000_000
    /// Not longer: whoever comes in bursts to a server that has time would be refused at each of them, for as long as they come.
    private static let calmAfterNanoseconds: Int64 = 100_000_000
    /// So many times the wait are added for the disk at the most.
    private static let syncWaitsMax: Int64 = 4
    /// What a reservation is as long as before anything was measured.
    private static let unknownUnitNanoseconds = 10_000.0

    private let settings: Settings
    private var state = State.calm(aboveSince: nil)
    private var reservations = Reservations()
    private var waitingRequests = 0
    private var waitingWork = 0
    private var executingRequests = 0
    private var executingWork = 0
    /// Work that may be ahead.
    private var limit = Int.max / 4
    private var pace = WorkPace()
    /// From the end of one piece to the end of the next, while there was always one.
    private var throughput = WorkPace()
    private var lastEnd: Int64?
    private var syncNanoseconds = 0.0
    package private(set) var counted = Counted()

    /// Since the beginning.
    package struct Counted: Hashable, Sendable {
        package var refused: UInt64 = 0
        /// Of those refused, who got a reservation.
        package var reserved: UInt64 = 0
        /// Requests that a reservation admitted.
        package var kept: UInt64 = 0
    }

    package init(_ settings: Settings) {
        self.settings = settings
    }

    /// What a change takes of the writer, in units of a few microseconds.
    package static func work(records: Int, bytes: Int) -> Int { 4 + 2 * records + bytes / 1_024 }

    /// Whether anybody may be refused now.
    package var isCrowded: Bool {
        if case .crowded = self.state { true } else { false }
    }

    /// Whether anybody may be refused within the next moments.
    package var mayRefuse: Bool {
        if case .calm(nil) = self.state { false } else { true }
    }

    package var reservationCount: Int { self.reservations.count }

    /// A request came that may be refused; when it is admitted it waits.
    ///
    /// Its work is at least 1. When the queue is full, a bound of its would be passed, and not even a reservation admits. The time is read only when it is needed.
    package mutating func arrived(
        _ requester: Requester,
        work: Int,
        isFull: Bool,
        now: @autoclosure () -> Int64
    ) -> OnArrival {
        let hasRoom = !isFull && self.hasRoom(for: work)
        switch self.state {
        case .calm(let aboveSince):
            if !hasRoom {
                let time = now()
                let since = aboveSince ?? time
                guard !isFull, time - since < Self.standingNanoseconds else {
                    self.state = .crowded(lastRefusal: time)
                    return self.arrivedInCrowd(requester, work: work, isFull: isFull, now: time)
                }
                self.state = .calm(aboveSince: since)
            }
            self.entered(work: work)
            return .admit
        case .crowded:
            return self.arrivedInCrowd(requester, work: work, isFull: isFull, now: now())
        }
    }

    /// A request came of which only the size is known yet: why it is refused; `nil`: it may be looked at.
    ///
    /// Changes nothing for one that is not refused.
    package mutating func preview(
        _ requester: Requester,
        work: Int,
        isFull: Bool,
        now: @autoclosure () -> Int64
    ) -> OnArrival? {
        guard self.isCrowded, isFull || !self.hasRoom(for: work) else { return nil }
        let time = now()
        let found = self.find(requester, work: work, isUsed: false, now: time)
        guard isFull || found != .open else { return nil }
        return self.refuse(requester, work: work, found: found, now: time)
    }

    /// A request came that is never refused.
    package mutating func entered(work: Int) {
        self.waitingRequests += 1
        self.waitingWork += work
    }

    /// Requests that waited are executed from now on.
    package mutating func began(requests: Int, work: Int) {
        self.waitingRequests -= requests
        self.waitingWork -= work
        self.executingRequests += requests
        self.executingWork += work
    }

    /// Requests that had begun were executed, in so much time of a lane.
    package mutating func ended(requests: Int, work: Int, nanoseconds: Int64, now: Int64) {
        self.executingRequests -= requests
        self.executingWork -= work
        if work > 0 {
            self.pace.add(work: work, nanoseconds: nanoseconds)
            if let lastEnd { self.throughput.add(work: work, nanoseconds: now - lastEnd) }
        }
        self.lastEnd = self.waitingRequests > 0 ? now : nil
        self.setLimit()
        switch self.state {
        case .calm(.some):
            if self.waitingWork <= self.limit / 2 { self.state = .calm(aboveSince: nil) }
        case .calm(nil):
            self.reservations.forgetIfAllOver(now)
        case .crowded(let lastRefusal):
            if now - lastRefusal >= Self.calmAfterNanoseconds { self.state = .calm(aboveSince: nil) }
        }
    }

    /// What was executed was made durable, which took so long.
    package mutating func synced(nanoseconds: Int64) {
        self.syncNanoseconds += (Double(nanoseconds) - self.syncNanoseconds) / 16
    }

    private func hasRoom(for work: Int) -> Bool {
        self.waitingWork + self.executingWork + work <= self.limit
            || self.waitingRequests + self.executingRequests < self.settings.requestsMin
    }

    private mutating func arrivedInCrowd(
        _ requester: Requester,
        work: Int,
        isFull: Bool,
        now: Int64
    ) -> OnArrival {
        let found = self.find(requester, work: work, isUsed: false, now: now)
        guard !isFull, found == .open || self.hasRoom(for: work) else {
            return self.refuse(requester, work: work, found: found, now: now)
        }
        if self.find(requester, work: work, isUsed: true, now: now) == .open {
            self.counted.kept += 1
        }
        self.entered(work: work)
        return .admit
    }

    private mutating func find(
        _ requester: Requester,
        work: Int,
        isUsed: Bool,
        now: Int64
    ) -> Reservations.Found {
        guard !self.reservations.isEmpty else { return .nothing }
        return self.reservations.find(
            ReservationHolder(requester),
            mark: requester.mark,
            work: work,
            isUsed: isUsed,
            now: now
        )
    }

    /// Refuses a request, with the time until its place begins, or gives it one.
    private mutating func refuse(
        _ requester: Requester,
        work: Int,
        found: Reservations.Found,
        now: Int64
    ) -> OnArrival {
        self.state = .crowded(lastRefusal: now)
        self.counted.refused += 1
        switch found {
        case .early(let nanoseconds):
            return .refuse(retryAfterMilliseconds: Self.milliseconds(nanoseconds))
        case .open:
            // While the queue is full: the place is good a little longer.
            return .refuse(retryAfterMilliseconds: Self.milliseconds(Self.fullWait))
        case .nothing: break
        }
        let given = self.reservations.reserve(
            ReservationHolder(requester),
            mark: requester.mark,
            work: work,
            unitNanoseconds: self.unitNanoseconds,
            now: now
        )
        guard let given else {
            // Spread out, so that not all come back at once.
            let spread = UInt32((requester.mark ^ self.counted.refused) % UInt64(Self.retryMillisecondsMax))
            return .refuse(retryAfterMilliseconds: Self.retryMillisecondsMax + 1 + spread)
        }
        self.counted.reserved += 1
        return .refuse(retryAfterMilliseconds: Self.milliseconds(given))
    }

    /// What a unit of work takes of all lanes together, waiting for the disk included.
    private var unitNanoseconds: Double {
        let executing = self.pace.nanosecondsPerUnit ?? Self.unknownUnitNanoseconds
        return max(self.throughput.nanosecondsPerUnit ?? 0, executing / Double(self.settings.lanes))
    }

    private mutating func setLimit() {
        guard let unit = self.pace.nanosecondsPerUnit else { return }
        let wait = Double(self.settings.waitNanoseconds)
        let sync = min(self.syncNanoseconds, Double(Self.syncWaitsMax) * wait)
        self.limit = Int(min((wait + sync) * Double(self.settings.lanes) / unit, Double(Int.max / 4)))
    }

    /// Rounded up: who comes then is not too early.
    private static func milliseconds(_ nanoseconds: Int64) -> UInt32 {
        UInt32(clamping: (nanoseconds + 999_999) / 1_000_000)
    }
}
