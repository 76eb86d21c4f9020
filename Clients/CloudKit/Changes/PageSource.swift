internal import RecordClient
private import Synchronization
internal import WireProtocol

/// Where the pages of a feed come from.
///
/// Called for one page at a time; tells once what came of it, perhaps before it returns.
typealias PageSource<Page: FeedPage> =
    @Sendable (
        Page,
        @escaping @Sendable (Result<FeedPageContent<Page>, CKError>) -> Void
    ) -> any CKOperation.Work

extension ServerAccess {
    /// Pages from the server.
    ///
    /// They are read on a queue of their own, so that the next one is ready when the callbacks of the one before have run. The
    /// patience is for one page as to silence, for all pages together as to the time over all.
    func pages<Page: FeedPage>(patience: Patience, withFiles: Bool = true) -> PageSource<Page> {
        let reading = CallbackQueue(name: "CKOperation.feed")
        let end = ContinuousClock.now + patience.resource
        return { page, told in
            let call = RequestCall(
                access: self,
                patience: patience.until(end),
                withFiles: withFiles
            ) { _, step in
                reading.run(step)
            }
            let answers = Mutex<[Page.Answer]>([])
            call.start(page) { batch in
                answers.withLock { $0 += batch }
            } end: { end in
                switch end {
                case .failed(let error): told(.failure(error))
                case .answered(_, let last):
                    do throws(CKError) {
                        told(
                            .success(try FeedPageContent(answers.withLock { $0 }, of: page, end: last))
                        )
                    } catch {
                        told(.failure(error))
                    }
                }
            }
            return call
        }
    }
}

extension Patience {
    /// The same, but no longer than until a moment; a moment that has passed leaves a millisecond.
    func until(_ end: ContinuousClock.Instant) -> Patience {
        let left = max(.milliseconds(1), ContinuousClock.now.duration(to: end))
        return Patience(
            request: min(self.request, left),
            resource: min(self.resource, left),
            connection: min(self.connection, left)
        )
    }
}
