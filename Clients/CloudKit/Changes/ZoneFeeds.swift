private import Synchronization

/// Reads the feeds of several zones: some at once, the next when one of them has ended.
///
/// Zones are reported one after the other, in the order in which they were given, because published
/// code keeps the changes of a zone until the zone's end. Zones before their turn read ahead,
/// at most two pages each.
///
/// A zone that fails for a reason of its own ends alone. An error that concerns all zones (no
/// server, not signed in, cancelled) ends everything. Zones that had not ended are then not
/// reported as ended.
final class ZoneFeeds: CKOperation.Work {
    typealias Reader = FeedReader<ZoneChangesPage>
    private typealias Step = @Sendable () -> Void

    /// How many zones are read at once: each has at most two pages in memory and one stream of the
    /// connection.
    static let parallelMax = 4

    private struct Running {
        let zoneID: CKRecordZone.ID
        let reader: Reader
        /// The report of the reader that waits for its zone's turn; the reader reports nothing else
        /// until it has run.
        var held: Step?
    }

    private struct State {
        /// In the order in which they start.
        var waiting: ArraySlice<ZoneChangesPage>
        /// In the order in which they are reported: it is the first one's turn.
        var running: [Running] = []
        var failures: [AnyHashable: any Error] = [:]
        /// The error for all zones that a reader met: no zone starts after it.
        var cause: CKError?
        /// The same, when the zone's turn had come: nothing is reported after it.
        var error: CKError?
        var isCancelled = false
    }

    private let readsAll: Bool
    private let source: PageSource<ZoneChangesPage>
    private let callBack: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let report: @Sendable (CKRecordZone.ID, Reader.Report) -> Void
    private let end: @Sendable (CKError?) -> Void
    private let state: Mutex<State>

    /// - Parameters:
    ///   - pages: The first page of each zone.
    ///   - readsAll: Whether to continue until no more changes are ready.
    ///   - source: Where pages come from.
    ///   - callBack: Runs the closures that it is given, in order, one at a time.
    ///   - report: Called on `callBack` for each page of a zone, zone after zone.
    ///   - end: Called on `callBack` once, last.
    init(
        _ pages: [ZoneChangesPage],
        readsAll: Bool,
        source: @escaping PageSource<ZoneChangesPage>,
        callBack: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        report: @escaping @Sendable (CKRecordZone.ID, Reader.Report) -> Void,
        end: @escaping @Sendable (CKError?) -> Void
    ) {
        self.readsAll = readsAll
        self.source = source
        self.callBack = callBack
        self.report = report
        self.end = end
        self.state = Mutex(State(waiting: pages[...]))
    }

    /// Starts; to be called once.
    func start() { self.callBack { self.goOn() } }

    /// Ends everything with `operationCancelled`, unless it has ended.
    func cancel() {
        self.state.withLock { $0.isCancelled = true }
        self.cancelReaders()
    }

    private func cancelReaders() {
        for reader in self.state.withLock({ $0.running.map(\.reader) }) { reader.cancel() }
    }

    /// Starts the zones that may start, or ends.
    private func goOn() {
        var started: [Reader] = []
        let isAtEnd = self.state.withLock { state in
            if state.error == nil, state.isCancelled { state.error = .cancelled }
            if state.error == nil, state.cause == nil {
                while state.running.count < Self.parallelMax, let page = state.waiting.popFirst() {
                    let reader = self.reader(page)
                    state.running.append(Running(zoneID: page.zoneID, reader: reader))
                    started.append(reader)
                }
            }
            return state.running.isEmpty
        }
        for reader in started { reader.start() }
        if isAtEnd { self.end(self.error) }
    }

    private var error: CKError? {
        let (error, failures) = self.state.withLock { ($0.error, $0.failures) }
        if let error { return error }
        guard !failures.isEmpty else { return nil }
        return .partialFailure(failures, message: "Failed to fetch changes of some record zones")
    }

    private func reader(_ page: ZoneChangesPage) -> Reader {
        let zoneID = page.zoneID
        return FeedReader(
            first: page,
            readsAll: self.readsAll,
            source: { page, completion in
                self.source(page) { result in
                    // The zone that has its turn may wait for a server that is no longer reachable.
                    if case .failure(let error) = result, !error.isOfZone { self.stop(for: error) }
                    completion(result)
                }
            },
            callBack: { self.take($0, of: zoneID) },
            report: { self.reported($0, of: zoneID) }
        )
    }

    /// Runs the report of a zone's reader, or keeps it until it is the zone's turn.
    private func take(_ step: @escaping @Sendable () -> Void, of zoneID: CKRecordZone.ID) {
        let isTurn = self.state.withLock { state in
            guard let index = state.running.firstIndex(where: { $0.zoneID == zoneID }), index > 0 else {
                return true
            }
            state.running[index].held = step
            return false
        }
        if isTurn { self.callBack(step) }
    }

    /// Stops reading for a reason that concerns all zones; the first one counts.
    ///
    /// Pages that were read are still reported.
    private func stop(for error: CKError) {
        self.state.withLock { $0.cause = $0.cause ?? error }
        self.cancelReaders()
    }

    private func reported(_ report: Reader.Report, of zoneID: CKRecordZone.ID) {
        switch report {
        case .page(_, isLast: false):
            if self.isGoingOn { self.report(zoneID, report) }
            return
        case .page(_, isLast: true):
            if self.isGoingOn { self.report(zoneID, report) }
            self.ended(zoneID) { _ in }
        case .failed(let error) where error.isOfZone:
            if self.isGoingOn { self.report(zoneID, report) }
            self.ended(zoneID) { $0.failures[zoneID] = error }
        case .failed(let error):
            self.stop(for: error)
            self.ended(zoneID) { $0.error = $0.error ?? $0.cause ?? error }
        }
        self.goOn()
    }

    private var isGoingOn: Bool { self.state.withLock { $0.error == nil } }

    /// Gives the turn to the next zone.
    private func ended(_ zoneID: CKRecordZone.ID, _ note: (inout State) -> Void) {
        let held = self.state.withLock { state in
            state.running.removeAll { $0.zoneID == zoneID }
            note(&state)
            return state.running.isEmpty ? nil : state.running[0].held.take()
        }
        if let held { self.callBack(held) }
    }
}

extension CKError {
    /// Whether the feeds of other zones may still succeed.
    var isOfZone: Bool {
        switch self.code {
        case .changeTokenExpired, .zoneNotFound, .userDeletedZone, .zoneBusy, .permissionFailure,
            .invalidArguments:
            true
        default: false
        }
    }
}
