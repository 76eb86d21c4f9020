private import Synchronization

/// Reads the feeds of several zones: some at once, the others when one of those has ended.
///
/// A zone that fails for a reason of its own ends alone. What goes wrong for all (no server, nobody signed in, cancelled) ends
/// everything, and the zones that had not ended are not reported as ended.
final class ZoneFeeds: CKOperation.Work {
    typealias Reader = FeedReader<ZoneChangesPage>

    /// Each has two pages in memory at most, and one stream of the connection.
    static let parallelMax = 4

    private struct State {
        /// In the order in which they are to be started.
        var waiting: ArraySlice<ZoneChangesPage>
        var running: [CKRecordZone.ID: Reader] = [:]
        var failures: [AnyHashable: any Error] = [:]
        /// What went wrong for all.
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
    ///   - pages: The pages to begin with, one for each zone.
    ///   - readsAll: Whether to go on until nothing more is coming.
    ///   - source: Where pages come from.
    ///   - callBack: Runs what it is given, in order, one at a time.
    ///   - report: Called there for each page of a zone, in the order of that zone.
    ///   - end: Called there once, last.
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

    /// Ends everything with `operationCancelled` unless it has ended.
    func cancel() {
        let running = self.state.withLock { state in
            state.isCancelled = true
            return state.running.values.map { $0 }
        }
        for reader in running { reader.cancel() }
    }

    /// Starts what may be started, or ends.
    private func goOn() {
        var started: [Reader] = []
        let isAtEnd = self.state.withLock { state in
            if state.error == nil, state.isCancelled { state.error = .cancelled }
            if state.error == nil {
                while state.running.count < Self.parallelMax, let page = state.waiting.popFirst() {
                    let reader = self.reader(page)
                    state.running[page.zoneID] = reader
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
        FeedReader(first: page, readsAll: self.readsAll, source: self.source, callBack: self.callBack) {
            self.reported($0, of: page.zoneID)
        }
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
            let others = self.state.withLock { state in
                state.error = state.error ?? error
                return state.running.values.map { $0 }
            }
            for reader in others { reader.cancel() }
            self.ended(zoneID) { _ in }
        }
        self.goOn()
    }

    private var isGoingOn: Bool { self.state.withLock { $0.error == nil } }

    private func ended(_ zoneID: CKRecordZone.ID, _ note: (inout State) -> Void) {
        self.state.withLock { state in
            state.running[zoneID] = nil
            note(&state)
        }
    }
}

extension CKError {
    /// Whether the feeds of other zones may well succeed.
    var isOfZone: Bool {
        switch self.code {
        case .changeTokenExpired, .zoneNotFound, .userDeletedZone, .zoneBusy, .permissionFailure,
            .invalidArguments:
            true
        default: false
        }
    }
}
