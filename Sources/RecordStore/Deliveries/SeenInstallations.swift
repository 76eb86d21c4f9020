import StorageContract
import Synchronization

/// Progress of installations in zones that no row has yet.
///
/// Written behind, by at most one transaction a second. A row that was written rests for a minute: what
/// comes meanwhile waits, so an installation that fetches all the time costs a row a minute. A
/// transaction comes when there is a row to write, and not before. Nothing is read or written on the
/// way of a page but one entry here.
final class SeenInstallations: Sendable {
    typealias Key = SeenKey

    /// Names one job that writes rows, however often it is executed.
    struct Job: Hashable {
        fileprivate let number: UInt64
    }

    /// A job to ask for.
    struct DueJob: Hashable {
        let job: Job
        /// How long it waits.
        let pauseMilliseconds: Int64
    }

    private struct Entry {
        var seen: SeenPosition
        /// Whether some of it is in no durable row.
        var isNew: Bool
        /// When a row that was written has rested; `nil` for an entry that no row has yet.
        var restsUntilMilliseconds: Int64?
    }

    private struct Rest {
        let key: Key
        let untilMilliseconds: Int64
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// Those that the next job writes.
        var waiting: [Key] = []
        /// Those that were written, the earliest first, from `firstResting` on.
        var resting: [Rest] = []
        var firstResting = 0
        var newCount = 0
        var taken: [Job: [Key: SeenPosition]] = [:]
        var jobs: UInt64 = 0
        /// Jobs that are on their way, and when they come.
        var dueMilliseconds: [Job: Int64] = [:]

        /// Ends the rest of entries that have rested long enough: the changed ones wait to be
        /// written, and the others are forgotten.
        mutating func wake(nowMilliseconds now: Int64) {
            while self.firstResting < self.resting.count,
                self.resting[self.firstResting].untilMilliseconds <= now
            {
                let key = self.resting[self.firstResting].key
                self.firstResting += 1
                if self.entries[key]?.isNew == true {
                    self.entries[key]?.restsUntilMilliseconds = nil
                    self.waiting.append(key)
                } else {
                    self.entries[key] = nil
                }
            }
            guard self.firstResting > self.resting.count / 2 else { return }
            self.resting.removeFirst(self.firstResting)
            self.firstResting = 0
        }

        mutating func newJob() -> Job {
            self.jobs += 1
            return Job(number: self.jobs)
        }

        /// A job for a time, unless one comes about then or before.
        mutating func job(atMilliseconds due: Int64, nowMilliseconds now: Int64) -> DueJob? {
            let pause = max(SeenInstallations.pauseMilliseconds, due - now)
            if let earliest = self.dueMilliseconds.values.min(),
                earliest <= now + pause + SeenInstallations.pauseMilliseconds
            {
                return nil
            }
            let job = self.newJob()
            self.dueMilliseconds[job] = now + pause
            return DueJob(job: job, pauseMilliseconds: pause)
        }

        /// A job for the first row that is to be written, unless one comes about then or before.
        mutating func nextJob(nowMilliseconds now: Int64) -> DueJob? {
            if !self.waiting.isEmpty { return self.job(atMilliseconds: now, nowMilliseconds: now) }
            let first =
                self.newCount > 0
                ? self.resting[self.firstResting...].first { self.entries[$0.key]?.isNew == true } : nil
            return first.flatMap { self.job(atMilliseconds: $0.untilMilliseconds, nowMilliseconds: now) }
        }
    }

    /// Zones that are followed by an installation each: further ones are forgotten until there is
    /// room.
    static let entriesMax = 65_536
    /// Maximum number of entries that a transaction writes.
    static let writtenMax = 1_000
    static let restMilliseconds: Int64 = 60_000
    static let pauseMilliseconds: Int64 = 1_000

    private let state = Mutex(State())

    /// Adds what a page showed.
    ///
    /// - Returns: A job that has to be asked for, which writes it; `nil` if one is on its way.
    func add(_ seen: SeenPosition, of key: Key) -> DueJob? {
        self.state.withLock { state in
            let now = seen.atMilliseconds
            state.wake(nowMilliseconds: now)
            if var entry = state.entries[key] {
                entry.seen.advance(to: seen)
                guard !entry.isNew else {
                    state.entries[key] = entry
                    return nil
                }
                state.newCount += 1
                entry.isNew = true
                state.entries[key] = entry
                return state.job(atMilliseconds: entry.restsUntilMilliseconds ?? now, nowMilliseconds: now)
            }
            guard state.entries.count < Self.entriesMax else { return nil }
            state.entries[key] = Entry(seen: seen, isNew: true)
            state.newCount += 1
            state.waiting.append(key)
            return state.job(atMilliseconds: now, nowMilliseconds: now)
        }
    }

    /// Progress in a zone that is known here: no durable row may have it.
    func known(in zone: ZoneKey) -> [Key: SeenPosition] {
        self.state.withLock { state in
            state.entries.filter { $0.key.zone == zone }.mapValues { $0.seen }
        }
    }

    /// Installations of a user that have followed zones of a database, as far as no durable row may
    /// have them.
    func installations(of user: String, in database: DatabaseID) -> Set<[UInt8]> {
        self.state.withLock { state in
            var found: Set<[UInt8]> = []
            for key in state.entries.keys where key.user == user && key.zone.database == database {
                found.insert(key.installation)
            }
            return found
        }
    }

    /// A job without a caller that waits for it, besides those that are due.
    func newJob() -> Job { self.state.withLock { $0.newJob() } }

    /// Takes some for a job to write: the same ones if the job is executed again.
    ///
    /// With `takesAll` also those that rest.
    func take(
        for job: Job,
        nowMilliseconds now: Int64,
        max count: Int = writtenMax,
        takesAll: Bool = false
    ) -> [Key: SeenPosition] {
        self.state.withLock { state in
            if let known = state.taken[job] { return known }
            state.wake(nowMilliseconds: takesAll ? .max : now)
            var taken: [Key: SeenPosition] = [:]
            let written = state.waiting.prefix(count)
            for key in written { taken[key] = state.entries[key]?.seen }
            state.waiting.removeFirst(written.count)
            state.taken[job] = taken
            return taken
        }
    }

    /// Notes that a job's part is durable.
    ///
    /// - Returns: Another job that has to be asked for.
    func written(by job: Job, nowMilliseconds now: Int64) -> DueJob? {
        self.state.withLock { state in
            state.dueMilliseconds[job] = nil
            for (key, seen) in state.taken.removeValue(forKey: job) ?? [:] {
                guard var entry = state.entries[key] else { continue }
                if entry.seen == seen {
                    entry.isNew = false
                    state.newCount -= 1
                }
                entry.restsUntilMilliseconds = now + Self.restMilliseconds
                state.entries[key] = entry
                state.resting.append(Rest(key: key, untilMilliseconds: now + Self.restMilliseconds))
            }
            return state.nextJob(nowMilliseconds: now)
        }
    }

    /// Notes that a job's part is not written, and waits again.
    ///
    /// - Returns: Another job that has to be asked for.
    func failed(_ job: Job, nowMilliseconds now: Int64) -> DueJob? {
        self.state.withLock { state in
            state.dueMilliseconds[job] = nil
            state.waiting.append(contentsOf: (state.taken.removeValue(forKey: job) ?? [:]).keys)
            return state.nextJob(nowMilliseconds: now)
        }
    }
}
