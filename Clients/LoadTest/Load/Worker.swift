import Foundation
import RecordClient
import RecordModel
import Synchronization
import WireProtocol

/// One connection, with keys that no other connection writes.
///
/// Requests start in the callbacks of others or from the pacer, because a task for each would be
/// measured, too.
final class Worker: Sendable {
    /// Bound on the arrivals that wait for a slot.
    ///
    /// Further ones fail.
    static let waitingMax = 100_000

    struct State {
        var keys: KeyTable
        var generator: SplitMix64
        var plainKeys: KeyDistribution
        var specialKeys: KeyDistribution
        /// The token of the last read of each zone's feed.
        var tokens: [[UInt8]]
        /// Uploaded and acknowledged assets, by key.
        var assets: [Int: Asset] = [:]
        var underWay = 0
        var waiting: [(due: ContinuousClock.Instant, step: Step)] = []
        /// Index of the first element of `waiting` that still waits.
        var firstWaiting = 0
        var isStopping = false
        var whenIdle: CheckedContinuation<Void, Never>?
        var stalling = Waiting()
        var violations = Violations()
    }

    /// Unique in the run, over all its processes.
    let number: Int
    let client: RecordClient
    let settings: WorkerSettings
    private let currentRecorder: Mutex<Recorder>
    let pushListener: PushListener
    let userDevices: UserDevices
    let state: Mutex<State>

    init(
        client: RecordClient,
        number: Int,
        settings: WorkerSettings,
        pushListener: PushListener,
        userDevices: UserDevices
    ) {
        self.number = number
        self.client = client
        self.settings = settings
        self.currentRecorder = Mutex(Recorder(period: .now ..< .now))
        self.pushListener = pushListener
        self.userDevices = userDevices
        let keys = KeyTable(worker: number, plain: settings.plainKeys, special: settings.specialKeys)
        self.state = Mutex(
            State(
                keys: keys,
                generator: SplitMix64(seed: SplitMix64.mix(settings.seed &+ UInt64(number))),
                plainKeys: KeyDistribution(settings.shape, count: settings.plainKeys),
                specialKeys: KeyDistribution(.uniform, count: settings.specialKeys),
                tokens: Array(repeating: [], count: settings.layout.zoneCount)
            )
        )
    }

    /// Receives all events.
    var recorder: Recorder { self.currentRecorder.withLock { $0 } }

    // MARK: Arrivals

    /// Takes part in a measurement, after `stop` in another one.
    func join(_ recorder: Recorder) {
        self.currentRecorder.withLock { $0 = recorder }
        self.state.withLock { $0.isStopping = false }
    }

    /// Takes a request that is due.
    ///
    /// It is sent at once, or when a slot is free.
    func arrive(due: ContinuousClock.Instant) {
        let step: Step? = self.state.withLock { state in
            let step = self.settings.mix.step(using: &state.generator)
            state.stalling.due(at: due)
            guard state.underWay >= self.settings.underWayMax else {
                state.underWay += 1
                return step
            }
            if state.waiting.count - state.firstWaiting < Self.waitingMax {
                state.waiting.append((due, step))
            } else {
                self.recorder.failed(step.measured, "more than \(Self.waitingMax) were waiting", at: .now)
            }
            return nil
        }
        if let step { self.begin(step, due: due, hasWaited: false) }
    }

    /// Fills all slots with requests that are due now.
    ///
    /// Each is followed by another.
    func startClosedLoop() {
        for _ in 0..<self.settings.underWayMax { self.arrive(due: .now) }
    }

    private func begin(_ step: Step, due: ContinuousClock.Instant, hasWaited: Bool) {
        self.recorder.left(due: due, at: .now, hasWaited: hasWaited)
        let call = self.state.withLock { self.request(for: step, due: due, &$0) }
        if case .fetch = call.work, step != .fetch { self.recorder.replaced(due: due) }
        self.send(call)
    }

    func send(_ call: Call) {
        switch call.work {
        case .push(let key):
            self.pushListener.expect(self.recordName(key)) { self.arrived(call, $0) }
        case .sync(let key):
            self.userDevices.expect(self.recordName(key), by: self.number) { self.arrived(call, $0) }
        case .upload(let key, let bytes): return self.upload(bytes, key, call)
        case .download(let key, let asset): return self.download(asset, key, call)
        case .save, .delete, .fetch, .query, .changes: break
        }
        guard let operation = call.operation else { return }
        self.client.start(
            operation,
            requestTimeout: self.settings.timeout,
            resourceTimeout: self.settings.timeout,
            items: { items in
                call.received(items)
                self.rest(after: items.count)
            },
            end: { self.answered(call, $0) }
        )
    }

    /// Sleeps for each record, as a slow reader would.
    private func rest(after records: Int) {
        guard self.settings.restMicrosecondsPerRecord > 0 else { return }
        usleep(UInt32(records * self.settings.restMicrosecondsPerRecord))
    }

    func recordName(_ key: Int) -> String { KeyTable.recordName(key, of: self.number) }

    // MARK: The end of a request

    /// Notes a request that succeeded.
    func succeeded(_ call: Call, at time: ContinuousClock.Instant, records: Int) {
        if call.isRetry { self.recorder.retried(call.measured, due: call.due, wasAdmitted: true) }
        self.recorder.succeeded(call.measured, due: call.due, at: time, records: records)
        let since = self.state.withLock { state in
            let hasMore = state.underWay > 1 || state.firstWaiting < state.waiting.count
            return state.stalling.succeeded(at: time, hasMore: hasMore)
        }
        if let since { self.recorder.waited(from: since, to: time) }
        self.finished()
    }

    func failed(_ call: Call, _ reason: String) {
        self.recorder.failed(call.measured, reason, at: .now)
        self.finished()
    }

    /// Gives the slot to the request that waits longest, or to the next one of a closed loop.
    private func finished() {
        self.recorder.finished()
        self.placeFreed()
    }

    func placeFreed() {
        let now = ContinuousClock.now
        let next: (due: ContinuousClock.Instant, step: Step, hasWaited: Bool)? = self.state.withLock {
            state in
            if !state.isStopping, state.firstWaiting < state.waiting.count {
                let next = state.waiting[state.firstWaiting]
                state.firstWaiting += 1
                if state.firstWaiting > 1_024, state.firstWaiting > state.waiting.count / 2 {
                    state.waiting.removeFirst(state.firstWaiting)
                    state.firstWaiting = 0
                }
                return (next.due, next.step, true)
            }
            if !state.isStopping, self.settings.isClosedLoop, now < self.recorder.period.upperBound {
                state.stalling.due(at: now)
                return (now, self.settings.mix.step(using: &state.generator), false)
            }
            state.underWay -= 1
            if state.isStopping, state.underWay == 0 { state.whenIdle.take()?.resume() }
            return nil
        }
        if let next { self.begin(next.step, due: next.due, hasWaited: next.hasWaited) }
    }

    /// Number of arrivals that wait for a slot.
    var waitingCount: Int { self.state.withLock { $0.waiting.count - $0.firstWaiting } }

    /// Starts no new requests, and returns when all in flight have ended.
    ///
    /// Requests that wait for a slot are never sent; their time until now counts.
    func stop() async {
        await withCheckedContinuation { continuation in
            let isIdle = self.state.withLock { state in
                state.isStopping = true
                for waiting in state.waiting[state.firstWaiting...] {
                    self.recorder.unsent(waiting.step.measured, due: waiting.due)
                }
                state.waiting = []
                state.firstWaiting = 0
                if state.underWay == 0 { return true }
                state.whenIdle = continuation
                return false
            }
            if isIdle { continuation.resume() }
        }
    }
}

/// The settings that all workers of a process share.
struct WorkerSettings: Sendable {
    var layout: Layout
    var mix: Mix
    var shape: KeyDistribution.Shape
    var seed: UInt64
    /// Number of ordinary records of a worker.
    var plainKeys: Int
    var recordBytes: Int
    var assetBytes: Int
    /// Records of a batch.
    var batch: Int
    /// Records of a page of a feed.
    var page: Int
    /// Requests in flight on a connection.
    var underWayMax: Int
    var isClosedLoop: Bool
    var timeout: Duration
    var verifies: Bool
    /// Holds requests until the time that their rejection named; `nil` if they are not sent again.
    var retries: Retries?
    /// Whether queries ask for all records, 400 at a time, and not for those of a bucket.
    var areQueriesBroad = false
    /// How long the thread of the connection sleeps for each record that it reads.
    ///
    /// It slows down all connections of the thread.
    var restMicrosecondsPerRecord = 0

    /// Number of keys each for pushes, for devices and for files.
    var specialKeys: Int { max(16, 2 * self.underWayMax) }
}
