import CloudKit

/// Listens until its task is cancelled.
struct Listener {
    let container: CKContainer
    let wanted: [WantedSubscription]
    let printsJSON: Bool
    let command: NotificationCommand?
    /// `nil`: nothing is fetched.
    let tokens: TokenFile?
    let beginsNow: Bool

    /// Saves the subscriptions, catches up, and takes notifications one after the other.
    ///
    /// It listens before it catches up, so that nothing that happens between the two is missed.
    ///
    /// - Throws: `ListenFailure`, or `CancellationError`.
    func run() async throws {
        var notifications = self.container.notifications(onStatusChange: Self.report).makeAsyncIterator()
        for wanted in self.wanted { try await self.save(wanted) }
        var fetcher = self.tokens.map {
            ChangeFetcher(container: self.container, tokens: $0, printsJSON: self.printsJSON)
        }
        if fetcher != nil {
            for feed in try await self.feeds() {
                if self.beginsNow { try await fetcher?.beginNow(feed) }
                try await fetcher?.fetch(feed)
            }
            Output.status("caught up")
        }
        while let notification = await notifications.next() {
            let notice = Notice(notification: notification, receivedAt: Date())
            try Output.line(self.printsJSON ? notice.json : notice.text)
            try await fetcher?.fetch(notice.feed)
            if let command, let failure = try await command.run(input: notice.json) { Output.status(failure) }
            // One whose command was ended with this process comes again.
            try Task.checkCancellation()
        }
    }

    private func save(_ wanted: WantedSubscription) async throws {
        let database = self.container.database(with: wanted.scope)
        do {
            try await Patience.patiently { _ = try await database.save(wanted.subscription) }
            Output.status("subscribed to \(wanted.text)")
        } catch let error as CKError where error.code == .serverRejectedRequest {
            Output.status("subscribed to \(wanted.text) before: \(error.localizedDescription)")
        } catch let error as CKError {
            throw ListenFailure(.refused, "cannot subscribe to \(wanted.text): \(error.localizedDescription)")
        }
    }

    /// What is fetched at the start: what was asked for, or, if that is nothing, what the user's subscriptions are about.
    private func feeds() async throws -> [Feed] {
        var feeds: [Feed] = []
        func add(_ feed: Feed) { if !feeds.contains(feed) { feeds.append(feed) } }
        for wanted in self.wanted { add(Feed(wanted.subscription, in: wanted.scope)) }
        guard self.wanted.isEmpty else { return feeds }
        for scope in [CKDatabase.Scope.private, .public] {
            let database = self.container.database(with: scope)
            let subscriptions = try await Patience.patiently { try await database.allSubscriptions() }
            for subscription in subscriptions { add(Feed(subscription, in: scope)) }
        }
        return feeds
    }

    @Sendable
    private static func report(_ status: CKContainer.ListeningStatus) {
        switch status {
        case .listening: Output.status("listening")
        case .interrupted(let error, let retryAfter):
            let next = retryAfter.map { "; reconnecting in \(Duration.seconds($0).text)" } ?? ""
            Output.status(error.localizedDescription + next)
        @unknown default: break
        }
    }
}

extension Feed {
    /// What a subscription is about.
    init(_ subscription: CKSubscription, in scope: CKDatabase.Scope) {
        switch subscription {
        case let query as CKQuerySubscription:
            self = query.zoneID.map { .zone($0, scope) } ?? .database(scope)
        case let zone as CKRecordZoneSubscription: self = .zone(zone.zoneID, scope)
        default: self = .database(scope)
        }
    }
}

extension Notice {
    /// Where what it tells about is found.
    fileprivate var feed: Feed {
        switch self.notification {
        case let query as CKQueryNotification:
            query.recordID.map { .zone($0.zoneID, self.scope) } ?? .database(self.scope)
        case let zone as CKRecordZoneNotification:
            zone.recordZoneID.map { .zone($0, self.scope) } ?? .database(self.scope)
        default: .database(self.scope)
        }
    }
}
