private import Synchronization

/// Reads one feed, page by page, and reports each page.
///
/// While a page is reported the next one is fetched. At most one page is ready and waits. The page
/// after that is requested only when its turn comes, so memory holds two pages however slow the
/// callbacks are.
///
/// ```text
/// asking --came--> reporting, next asked for --came--> reporting, next waits
/// reporting, next waits --reported--> reporting, next asked for ...
/// ```
final class FeedReader<Page: FeedPage>: CKOperation.Work {
    enum Report: Sendable {
        /// A page; no other follows the last.
        case page(FeedPageContent<Page>, isLast: Bool)
        /// The end, because of an error.
        case failed(CKError)
    }

    private struct State {
        /// The work of the page that was requested last.
        var work: (any CKOperation.Work)?
        var asked = 0
        var isCancelled = false
        var isReporting = false
        var waiting: (page: Page, report: Report)?
    }

    private let first: Page
    private let readsAll: Bool
    private let source: PageSource<Page>
    private let callBack: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let report: @Sendable (Report) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - first: The first page.
    ///   - readsAll: Whether to continue until no more changes are ready.
    ///   - source: Where pages come from.
    ///   - callBack: Runs the closures that it is given, in order, one at a time.
    ///   - report: Called on `callBack` for each page in order, until one is the last or the feed
    ///     fails.
    init(
        first: Page,
        readsAll: Bool,
        source: @escaping PageSource<Page>,
        callBack: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.first = first
        self.readsAll = readsAll
        self.source = source
        self.callBack = callBack
        self.report = report
    }

    /// Starts; to be called once.
    func start() { self.ask(for: self.first) }

    /// Ends the feed with `operationCancelled`, unless it has ended.
    func cancel() {
        let work = self.state.withLock { state in
            state.isCancelled = true
            return state.work
        }
        work?.cancel()
    }

    private func ask(for page: Page) {
        let number = self.state.withLock { state in
            state.asked += 1
            return state.asked
        }
        let work = self.source(page) { self.came(page, $0) }
        let isCancelled = self.state.withLock { state in
            // The response may have come already, and the next page been requested.
            if state.asked == number { state.work = work }
            return state.isCancelled
        }
        if isCancelled { work.cancel() }
    }

    private func came(_ page: Page, _ result: Result<FeedPageContent<Page>, CKError>) {
        let report: Report =
            switch result {
            case .success(let content): .page(content, isLast: !(self.readsAll && content.moreComing))
            case .failure(let error): .failed(error)
            }
        let isTurn = self.state.withLock { state in
            guard state.isReporting else {
                state.isReporting = true
                return true
            }
            state.waiting = (page, report)
            return false
        }
        if isTurn { self.hand(over: report, of: page) }
    }

    private func hand(over report: Report, of page: Page) {
        self.callBack {
            self.report(report)
            let next = self.state.withLock { state in
                defer { state.waiting = nil }
                if state.waiting == nil { state.isReporting = false }
                return state.waiting
            }
            if let next { self.hand(over: next.report, of: next.page) }
        }
        if case .page(let content, isLast: false) = report { self.ask(for: page.following(content.token)) }
    }
}
