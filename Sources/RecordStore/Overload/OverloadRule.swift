import RecordModel

/// Decides who may wait for threads that execute one request after the other, and when the others should come.
///
///     calm     everybody may wait
///       │ more than the limit has been ahead for 100 ms, or the queue is full        ▲ nobody was refused for 100 ms
///       ▼                                                                            │
///     crowded  who finds room below the limit, has less than a fair part of it, or has a reservation, may wait;
///              others are refused and get one
///
/// The limit is the work that can be executed in the time of `Settings`. What waits, waits in turns: so a request delays its own
/// holder first, and one whose holder has a fair part or less is not refused for what others have. Knows no clock: times are
/// nanoseconds of one that only goes forward.
package struct OverloadRule: Sendable {
    package struct Settings: Hashable, Sendable {
        /// How long what is ahead of a newcomer may take to execute.
        package var waitNanoseconds: Int64
        /// Threads that execute side by side.
        package var lanes: Int
        /// So many requests may be ahead whatever they take: a few clients with large ones are no overload.
        package var requestsMin: Int
        /// What all may have ahead together, whatever it takes.
        package var requests: SharedBound
        package var bytes: SharedBound

        package init(
            waitNanoseconds: Int64,
            lanes: Int,
            requestsMin: Int,
            requests: SharedBound = SharedBound(capacity: .max),
            bytes: SharedBound = SharedBound(capacity: .max)
        ) {
            self.waitNanoseconds = waitNanoseconds
            self.lanes = lanes
            self.requestsMin = requestsMin
            self.requests = requests
            self.bytes = bytes
        }
    }

    /// Requests of one holder that wait, or are executed together.
    package struct Portion: Hashable, Sendable {
        /// `nil`: nobody pays for them, and they are never refused.
        package var holder: AccountHolder?
        package var requests: Int
        package var work: Int
        package var bytes: Int

        package init(of holder: AccountHolder?, requests: Int = 1, work: Int, bytes: Int = 0) {
            self.holder = holder
            self.requests = requests
            self.work = work
            self.bytes = bytes
        }

        package mutating func add(_ other: Portion) {
            self.requests += other.requests
            self.work += other.work
            self.bytes += other.bytes
        }

        package mutating func remove(_ other: Portion) {
            self.requests -= other.requests
            self.work -= other.work
            self.bytes -= other.bytes
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
    /// Of everybody, with what is executed.
    private var all = Portion(of: nil, requests: 0, work: 0)
    private var executing = Portion(of: nil, requests: 0, work: 0)
    /// What each holder has waiting or executed; nobody who has nothing.
    private var owned: [AccountHolder: Portion] = [:]
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
    /// Its work is at least 1. Beyond a bound of requests or bytes not even a reservation admits. The time is read only when it is needed.
    package mutating func arrived(
        _ requester: Requester,
        work: Int,
        bytes: Int = 0,
        now: @autoclosure () -> Int64
    ) -> OnArrival {
        let portion = Portion(of: requester.holder, work: work, bytes: bytes)
        let isFull = self.isFull(for: portion)
        let hasRoom = !isFull && self.hasRoom(for: work)
        switch self.state {
        case .calm(let aboveSince):
            if !hasRoom {
                let time = now()
                let since = aboveSince ?? time
                guard !isFull, time - since < Self.standingNanoseconds else {
                    self.state = .crowded(lastRefusal: time)
                    return self.arrivedInCrowd(requester, portion, isFull: isFull, now: time)
                }
                self.state = .calm(aboveSince: since)
            }
            self.entered(portion)
            return .admit
        case .crowded:
            return self.arrivedInCrowd(requester, portion, isFull: isFull, now: now())
        }
    }

    /// A request came of which only the size is known yet: why it is refused; `nil`: it may be looked at.
    ///
    /// Changes nothing for one that is not refused.
    package mutating func preview(
        _ requester: Requester,
        work: Int,
        bytes: Int = 0,
        now: @autoclosure () -> Int64
    ) -> OnArrival? {
        guard self.isCrowded else { return nil }
        let portion = Portion(of: requester.holder, work: work, bytes: bytes)
        let isFull = self.isFull(for: portion)
        guard isFull || !(self.hasRoom(for: work) || self.hasShare(for: portion)) else { return nil }
        let time = now()
        let found = self.find(requester, work: work, isUsed: false, now: time)
        guard isFull || found != .open else { return nil }
        return self.refuse(requester, work: work, found: found, now: time)
    }

    /// Requests came that are never refused.
    package mutating func entered(_ portion: Portion) {
        self.all.add(portion)
        guard let holder = portion.holder else { return }
        self.owned[holder, default: Portion(of: holder, requests: 0, work: 0)].add(portion)
    }

    /// Requests that waited are executed from now on.
    package mutating func began(_ portion: Portion) { self.executing.add(portion) }

    /// Requests that had begun wait again: nothing was done.
    package mutating func returned(_ portion: Portion) { self.executing.remove(portion) }

    /// Requests that had begun were executed, in so much time of a lane, or, without a time, were not and are gone.
    package mutating func ended(_ portions: [Portion], nanoseconds: Int64?, now: Int64) {
        var work = 0
        for portion in portions {
            work += portion.work
            self.left(portion)
        }
        if work > 0, let nanoseconds {
            self.pace.add(work: work, nanoseconds: nanoseconds)
            if let lastEnd { self.throughput.add(work: work, nanoseconds: now - lastEnd) }
        }
        self.lastEnd = self.all.requests > self.executing.requests ? now : nil
        self.setLimit()
        switch self.state {
        case .calm(.some):
            if self.all.work - self.executing.work <= self.limit / 2 { self.state = .calm(aboveSince: nil) }
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

    private mutating func left(_ portion: Portion) {
        self.all.remove(portion)
        self.executing.remove(portion)
        guard let holder = portion.holder, let index = self.owned.index(forKey: holder) else { return }
        self.owned.values[index].remove(portion)
        if self.owned.values[index].requests == 0 { self.owned.remove(at: index) }
    }

    private func hasRoom(for work: Int) -> Bool {
        self.all.work + work <= self.limit || self.all.requests < self.settings.requestsMin
    }

    /// Whether a holder has no more than a fair part with it, of the limit or of the requests that may always wait.
    private func hasShare(for portion: Portion) -> Bool {
        let own = portion.holder.flatMap { self.owned[$0] }
        let holders = self.owned.count + (own == nil ? 1 : 0)
        return (own?.work ?? 0) + portion.work <= self.limit / holders
            || (own?.requests ?? 0) < self.settings.requestsMin / holders
    }

    /// Whether a bound would be passed; never while nothing is ahead, or a large request could not be executed at all.
    private func isFull(for portion: Portion) -> Bool {
        guard self.all.requests > 0 else { return false }
        // A holder has no more than all have: only beyond half of a bound it matters how much.
        if self.all.requests < self.settings.requests.capacity / 2,
            self.all.bytes + portion.bytes <= self.settings.bytes.capacity / 2
        {
            return false
        }
        let own = portion.holder.flatMap { self.owned[$0] }
        return !self.settings.requests.admits(1, own: own?.requests ?? 0, all: self.all.requests)
            || !self.settings.bytes.admits(portion.bytes, own: own?.bytes ?? 0, all: self.all.bytes)
    }

    private mutating func arrivedInCrowd(
        _ requester: Requester,
        _ portion: Portion,
        isFull: Bool,
        now: Int64
    ) -> OnArrival {
        let work = portion.work
        let found = self.find(requester, work: work, isUsed: false, now: now)
        guard !isFull, found == .open || self.hasRoom(for: work) || self.hasShare(for: portion) else {
            return self.refuse(requester, work: work, found: found, now: now)
        }
        if self.find(requester, work: work, isUsed: true, now: now) == .open {
            self.counted.kept += 1
        }
        self.entered(portion)
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
            requester.holder,
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
            requester.holder,
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
