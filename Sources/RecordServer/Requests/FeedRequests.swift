import RecordModel
import RecordStore
import StorageContract
import WireProtocol

/// A request for a feed, and its user.
package struct AdmittedFeed: Sendable {
    enum Question: Sendable {
        case changes(FeedRead)
        case databaseChanges(DatabaseFeedRead)
        /// Asks for the token of a zone, or of the database if there is no zone.
        case token(ZoneID?)
    }

    var question: Question
    var requester: Requester
}

extension RequestAdmission {
    /// Records of a page if the client sets no limit.
    private static let feedPage = 200

    /// `fetch_changes`.
    func admit(_ operation: FetchChanges) throws(Failure) -> AdmittedRequest {
        let requester = try self.user.requester(for: operation.scope, writing: false)
        var read = FeedRead(
            zone: operation.zone,
            token: try FeedToken.opened(operation.token, for: requester, with: self.sealKey),
            order: operation.order,
            desiredKeys: operation.desiredKeys,
            limit: Self.limit(operation.limit)
        )
        read.installation = self.user.installation
        return .feed(AdmittedFeed(question: .changes(read), requester: requester))
    }

    /// `fetch_database_changes`.
    func admit(_ operation: FetchDatabaseChanges) throws(Failure) -> AdmittedRequest {
        let requester = try self.user.requester(for: operation.scope, writing: false)
        let read = DatabaseFeedRead(
            token: try FeedToken.opened(operation.token, for: requester, with: self.sealKey),
            limit: Self.limit(operation.limit)
        )
        return .feed(AdmittedFeed(question: .databaseChanges(read), requester: requester))
    }

    /// `fetch_token`.
    func admit(_ operation: FetchToken) throws(Failure) -> AdmittedRequest {
        let requester = try self.user.requester(for: operation.scope, writing: false)
        return .feed(AdmittedFeed(question: .token(operation.zone), requester: requester))
    }

    private static func limit(_ limit: UInt32) -> Int {
        limit == 0 ? self.feedPage : min(Int(limit), Bounds.feedPageMax)
    }
}

extension AdmittedFeed {
    /// Asks the store, which replies on any thread; the items are in the sink.
    func ask(
        _ store: Store,
        key: SealKey,
        into sink: any FeedSink,
        reply: @escaping @Sendable (Result<End, StoreError>) -> Void
    ) {
        let requester = self.requester
        let replied: @Sendable (Result<FeedPageEnd, StoreError>) -> Void = { result in
            reply(
                result.map { page in
                    End(
                        token: FeedToken.sealed(page.token, for: requester, with: key),
                        moreComing: page.moreComing,
                        totals: page.totals,
                        clientToken: page.clientToken
                    )
                }
            )
        }
        switch self.question {
        case .changes(let read): store.changes(read, for: requester, into: sink, reply: replied)
        case .databaseChanges(let read):
            store.databaseChanges(read, for: requester, into: sink, reply: replied)
        case .token(let zone):
            store.token(of: zone, for: requester) { result in
                reply(result.map { End(token: FeedToken.sealed($0, for: requester, with: key)) })
            }
        }
    }
}
