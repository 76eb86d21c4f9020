internal import RecordClient
private import Synchronization
internal import WireProtocol

/// Where the pages of a feed come from.
///
/// It is called for one page at a time, and reports the result once, possibly before it returns.
typealias PageSource<Page: FeedPage> =
    @Sendable (
        Page,
        @escaping @Sendable (Result<FeedPageContent<Page>, CKError>) -> Void
    ) -> any CKOperation.Work

extension ServerAccess {
    /// Returns a source that fetches pages from the server.
    ///
    /// It reads them on a queue of its own, so that the next page is ready when the callbacks of
    /// the one before have run. The silence limit of `patience` is for each page, its time limit
    /// for all pages together.
    func pages<Page: FeedPage>(patience: Patience, withFiles: Bool = true) -> PageSource<Page> {
        let reading = CallbackQueue(name: "CKOperation.feed")
        let end = ContinuousClock.now + patience.resource
        return { page, completion in
            let call = RequestCall(
                access: self,
                patience: patience.until(end),
                withFiles: withFiles
            ) { _, step in
                reading.run(step)
            }
            let results = Mutex<[Page.ItemResult]>([])
            call.start(page) { batch in
                results.withLock { $0 = $0.isEmpty ? batch : $0 + batch }
            } end: { end in
                switch end {
                case .failed(let error): completion(.failure(error))
                case .answered(_, let last):
                    do throws(CKError) {
                        completion(
                            .success(try FeedPageContent(results.withLock { $0 }, of: page, end: last))
                        )
                    } catch {
                        completion(.failure(error))
                    }
                }
            }
            return call
        }
    }
}

extension Patience {
    /// Returns the same limits, but at most until a moment; a moment that has passed leaves a
    /// millisecond.
    func until(_ end: ContinuousClock.Instant) -> Patience {
        let left = max(.milliseconds(1), ContinuousClock.now.duration(to: end))
        return Patience(
            request: min(self.request, left),
            resource: min(self.resource, left),
            connection: min(self.connection, left)
        )
    }
}
