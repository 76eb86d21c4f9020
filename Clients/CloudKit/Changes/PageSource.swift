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
    /// the one before have run. The silence limit of `timeouts` is for each page, its time limit
    /// for all pages together.
    func pages<Page: FeedPage>(timeouts: Timeouts, withFiles: Bool = true) -> PageSource<Page> {
        let reading = CallbackQueue(name: "CKOperation.feed")
        let end = ContinuousClock.now + timeouts.resource
        return { page, completion in
            let callbacks = RequestCall<Page>.Callbacks(run: { reading.run($0) }) { end in
                switch end {
                case .failed(let error): completion(.failure(error))
                case .answered(let results, _, let last):
                    do throws(CKError) {
                        completion(.success(try FeedPageContent(results, of: page, end: last)))
                    } catch {
                        completion(.failure(error))
                    }
                }
            }
            let call = RequestCall(
                page,
                to: self,
                timeouts: timeouts.until(end),
                withFiles: withFiles,
                callbacks: callbacks
            )
            call.start()
            return call
        }
    }
}

extension Timeouts {
    /// Returns the same limits, but at most until a moment; a moment that has passed leaves a
    /// millisecond.
    func until(_ end: ContinuousClock.Instant) -> Timeouts {
        let left = max(.milliseconds(1), ContinuousClock.now.duration(to: end))
        return Timeouts(
            request: min(self.request, left),
            resource: min(self.resource, left),
            connection: min(self.connection, left)
        )
    }
}
