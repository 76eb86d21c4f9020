import RecordModel

/// Decides which requests may wait for a pool of worker threads, and when the others should retry.
///
///     calm     every request may wait
///       │ over the limit for 100 ms,                        ▲ no request was
///       ▼ or the queue is full                              │ rejected for 100 ms
///     crowded  a request may wait if there is room below the limit, if its user has less than
///              a fair share of it, or if it has a reservation; others are rejected and get one
///
/// The limit is the work that the threads can execute in the time of `Settings`, or a burst that one
/// piece of work takes. Waiting requests take turns by user. So a request delays its own user first,
/// and a user with a fair share or less is not rejected because of the load of others. The rule has
/// no clock: times are nanoseconds of a monotonic clock that the caller passes.
package struct OverloadRule: Sendable {
    package struct Settings: Hashable, Sendable {
        /// Work that one piece can take, whatever it costs to begin one.
        package struct Burst: Hashable, Sendable {
            package var work: Int
            /// The maximum time that it may take to execute: more is no burst.
            package var nanoseconds: Int64

            package init(work: Int, nanoseconds: Int64) {
                self.work = work
                self.nanoseconds = nanoseconds
            }
        }

        /// The maximum execution time of the work ahead of a new request.
        package var waitNanoseconds: Int64
        /// Number of threads that execute in parallel.
        package var lanes: Int
        /// Number of requests that may always be ahead.
        ///
        /// A few users with large requests are no overload.
        package var requestsMin: Int
        /// Bound on the waiting requests of all users together, whatever their work.
        package var requests: SharedBound
        package var bytes: SharedBound
        /// The least work that a piece has while more waits: 1 if each request is one.
        package var pieceWork = 1
        /// May always be ahead; `nil` for nothing but `requestsMin`.
        package var burst: Burst?

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

    /// Requests of one user that wait, or are executed together.
    package struct Portion: Hashable, Sendable {
        /// `nil` for requests that no user pays for, which are never rejected.
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
        /// A time of at most `retryMillisecondsMax` is a reservation. A longer time means that none
        /// was free.
        case refuse(retryAfterMilliseconds: UInt32)
    }

    /// Exits: `crowded`, from `calm`; `calm`, from `crowded`.
    private enum State {
        /// With the time since which the work ahead has exceeded the limit, if it does.
        case calm(aboveSince: Int64?)
        case crowded(lastRefusal: Int64)
    }

    /// The longest retry time that stands for a reservation.
    package static let retryMillisecondsMax = UInt32(Bounds.reservationMillisecondsMax)
    /// Time after which a client should look again whether a queue is still full.
    private static let fullWait: Int64 = 1_000_000
    /// The time for which the work ahead may exceed the limit before requests are rejected.
    private static let standingNanoseconds: Int64 = 100_000_000
    /// The time without a rejection after which the state is calm again.
    ///
    /// A longer time would reject clients that send bursts to a server with free time, at each
    /// burst and as long as they come.
    private static let calmAfterNanoseconds: Int64 = 100_000_000
    /// Bound on the time that is added for the fixed cost of a piece, as a multiple of the wait.
    private static let onceWaitsMax: Int64 = 4
    /// Length of a reservation per unit of work before anything was measured.
    private static let unknownUnitNanoseconds = 10_000.0

    private let settings: Settings
    private var state = State.calm(aboveSince: nil)
    private var reservations = Reservations()
    /// Sum over all users, with the requests being executed.
    private var all = Portion(of: nil, requests: 0, work: 0)
    private var executing = Portion(of: nil, requests: 0, work: 0)
    /// The requests of each user that wait or are being executed.
    ///
    /// A user without any has no entry.
    private var owned: [AccountHolder: Portion] = [:]
    /// Bound on the work that may be ahead.
    private var limit = Int.max / 4
    private var pace: WorkPace
    /// Measured from the end of one piece to the end of the next, while the queue was never empty.
    private var throughput: WorkPace
    private var lastEnd: Int64?
    private var syncNanoseconds = 0.0
    package private(set) var counted = Counted()

    /// Totals since the start.
    package struct Counted: Hashable, Sendable {
        package var refused: UInt64 = 0
        /// Rejected requests that got a reservation.
        package var reserved: UInt64 = 0
        /// Requests that were admitted because of their reservation.
        package var kept: UInt64 = 0
    }

    package init(_ settings: Settings) {
        self.settings = settings
        self.pace = WorkPace(pieceWork: settings.pieceWork)
        self.throughput = self.pace
    }

    /// Whether a request may be rejected now.
    package var isCrowded: Bool {
        if case .crowded = self.state { true } else { false }
    }

    /// Whether a request may be rejected within the next moments.
    package var mayRefuse: Bool {
        if case .calm(nil) = self.state { false } else { true }
    }

    package var reservationCount: Int { self.reservations.count }

    /// Decides about a request that may be rejected.
    ///
    /// An admitted one waits from now on.
    ///
    /// `work` is at least 1. Beyond the bound of requests or bytes, even a reservation does not
    /// admit. The time is read only if it is needed.
    package mutating func arrived(
        _ newcomer: Newcomer,
        work: Int,
        bytes: Int = 0,
        now: @autoclosure () -> Int64
    ) -> OnArrival {
        let portion = Portion(of: newcomer.holder, work: work, bytes: bytes)
        let isFull = self.isFull(for: portion)
        let hasRoom = !isFull && self.hasRoom(for: work)
        switch self.state {
        case .calm(let aboveSince):
            if !hasRoom {
                let time = now()
                let since = aboveSince ?? time
                guard !isFull, time - since < Self.standingNanoseconds else {
                    self.state = .crowded(lastRefusal: time)
                    return self.arrivedInCrowd(newcomer, portion, isFull: isFull, now: time)
                }
                self.state = .calm(aboveSince: since)
            }
            self.entered(portion)
            return .admit
        case .crowded:
            return self.arrivedInCrowd(newcomer, portion, isFull: isFull, now: now())
        }
    }

    /// Decides about a request when only its size is known.
    ///
    /// Changes nothing unless the request is rejected.
    ///
    /// - Returns: The rejection, or `nil` if the request may be decoded.
    package mutating func preview(
        _ newcomer: Newcomer,
        work: Int,
        bytes: Int = 0,
        now: @autoclosure () -> Int64
    ) -> OnArrival? {
        guard self.isCrowded else { return nil }
        let portion = Portion(of: newcomer.holder, work: work, bytes: bytes)
        let isFull = self.isFull(for: portion)
        guard isFull || !(self.hasRoom(for: work) || self.hasShare(for: portion)) else { return nil }
        let time = now()
        let found = self.find(newcomer, work: work, isUsed: false, now: time)
        guard isFull || found != .open else { return nil }
        return self.refuse(newcomer, work: work, found: found, now: time)
    }

    /// Adds requests that are never rejected.
    package mutating func entered(_ portion: Portion) {
        self.all.add(portion)
        guard let holder = portion.holder else { return }
        self.owned[holder, default: Portion(of: holder, requests: 0, work: 0)].add(portion)
    }

    /// Notes that waiting requests are now being executed.
    package mutating func began(_ portion: Portion) { self.executing.add(portion) }

    /// Notes that requests wait again after their execution had begun, with nothing done.
    package mutating func returned(_ portion: Portion) { self.executing.remove(portion) }

    /// Removes requests after their execution had begun, as one piece of work.
    ///
    /// `nanoseconds` is the time that they took on their thread, or `nil` if they were dropped
    /// without being executed.
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

    /// Notes how long it took to make executed requests durable.
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

    /// Whether the user stays within a fair share of the limit, or of the requests that may always
    /// wait.
    private func hasShare(for portion: Portion) -> Bool {
        let own = portion.holder.flatMap { self.owned[$0] }
        let holders = self.owned.count + (own == nil ? 1 : 0)
        return (own?.work ?? 0) + portion.work <= self.limit / holders
            || (own?.requests ?? 0) < self.settings.requestsMin / holders
    }

    /// Whether the request would exceed a bound.
    ///
    /// Never true while nothing is ahead. Otherwise a large request could not be executed at all.
    private func isFull(for portion: Portion) -> Bool {
        guard self.all.requests > 0 else { return false }
        // A user has no more than all users together, so the user's part matters only beyond half
        // of a bound.
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
        _ newcomer: Newcomer,
        _ portion: Portion,
        isFull: Bool,
        now: Int64
    ) -> OnArrival {
        let work = portion.work
        let found = self.find(newcomer, work: work, isUsed: false, now: now)
        guard !isFull, found == .open || self.hasRoom(for: work) || self.hasShare(for: portion) else {
            return self.refuse(newcomer, work: work, found: found, now: now)
        }
        if self.find(newcomer, work: work, isUsed: true, now: now) == .open {
            self.counted.kept += 1
        }
        self.entered(portion)
        return .admit
    }

    private mutating func find(
        _ newcomer: Newcomer,
        work: Int,
        isUsed: Bool,
        now: Int64
    ) -> Reservations.Found {
        guard !self.reservations.isEmpty else { return .nothing }
        return self.reservations.find(
            newcomer.holder,
            mark: newcomer.mark,
            work: work,
            isUsed: isUsed,
            now: now
        )
    }

    /// Rejects a request with the time until its reservation begins, and makes one if it has none.
    private mutating func refuse(
        _ newcomer: Newcomer,
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
            // The queue is full; the reservation stays valid a little longer.
            return .refuse(retryAfterMilliseconds: Self.milliseconds(Self.fullWait))
        case .nothing: break
        }
        let given = self.reservations.reserve(
            newcomer.holder,
            mark: newcomer.mark,
            work: work,
            unitNanoseconds: self.unitNanoseconds,
            now: now
        )
        guard let given else {
            // Spread the retries, so that not all clients return at once.
            let spread = UInt32((newcomer.mark ^ self.counted.refused) % UInt64(Self.retryMillisecondsMax))
            return .refuse(retryAfterMilliseconds: Self.retryMillisecondsMax + 1 + spread)
        }
        self.counted.reserved += 1
        return .refuse(retryAfterMilliseconds: Self.milliseconds(given))
    }

    /// Time per unit of work over all threads together, including the wait for the disk.
    private var unitNanoseconds: Double {
        let work = self.settings.pieceWork
        let executing = self.pace.nanosecondsPerUnit(inPiecesOf: work) ?? Self.unknownUnitNanoseconds
        return max(
            self.throughput.nanosecondsPerUnit(inPiecesOf: work) ?? 0,
            executing / Double(self.settings.lanes)
        )
    }

    /// A piece takes its own part of the time once, however much is in it, so that part is no work.
    private mutating func setLimit() {
        guard let parts = self.pace.parts else { return }
        let wait = Double(self.settings.waitNanoseconds)
        let once = min(self.syncNanoseconds + parts.fixed, Double(Self.onceWaitsMax) * wait)
        let lanes = Double(self.settings.lanes)
        var limit = (wait + once) * lanes / parts.unit
        if let burst = self.settings.burst {
            limit = max(limit, min(Double(burst.work), Double(burst.nanoseconds) * lanes / parts.unit))
        }
        self.limit = Int(min(limit, Double(Int.max / 4)))
    }

    /// Rounded up, so that a client that comes then is not too early.
    private static func milliseconds(_ nanoseconds: Int64) -> UInt32 {
        UInt32(clamping: (nanoseconds + 999_999) / 1_000_000)
    }
}
