import CloudKit

/// Listens until its task is cancelled.
struct Listener {
    /// The actions for each notification.
    struct Purpose: Sendable {
        var printsJSON: Bool
        var command: NotificationCommand?
        /// Whether a command that fails ends the program, so that its notification comes again.
        var endsOnFailure: Bool
        /// The file with the positions of the feeds; `nil` if nothing is fetched.
        var state: StateFile?
        var beginsNow: Bool

        func print(_ change: ChangeLine) throws(ListenFailure) {
            try Output.line(self.printsJSON ? change.json : change.text)
        }

        func print(_ notice: Notice) throws(ListenFailure) {
            try Output.line(self.printsJSON ? notice.json : notice.text)
        }

        /// Runs the command to its end, if there is one.
        func run(_ notice: Notice) async throws {
            guard let command else { return }
            if let failure = try await command.run(input: notice.json) {
                guard !self.endsOnFailure || Task.isCancelled else { throw ListenFailure(.command, failure) }
                Output.status(failure)
            }
            // A notification comes again if its command was ended with this process.
            try Task.checkCancellation()
        }
    }

    /// The key of a subscription of the user.
    private struct Name: Hashable {
        var scope: CKDatabase.Scope
        var id: CKSubscription.ID
    }

    let container: CKContainer
    let wanted: [WantedSubscription]
    let purpose: Purpose
    private let link = Link(listens: true)

    init(_ container: CKContainer, _ wanted: [WantedSubscription], _ purpose: Purpose) {
        self.container = container
        self.wanted = wanted
        self.purpose = purpose
    }

    /// Saves the subscriptions, catches up, and handles notifications one after the other.
    ///
    /// - Throws: `ListenFailure`, `CKError` or `CancellationError`.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.link.untilFailed() }
            group.addTask { try await self.listen() }
            defer { group.cancelAll() }
            // If there is nothing to listen to, the link has the reason.
            for try await _ in group {}
        }
    }

    /// Listens before it catches up, so that no change between the two is missed.
    private func listen() async throws {
        var notifications = self.container.notifications { [link] in link.report($0) }.makeAsyncIterator()
        var readings: [Name: Reading] = [:]
        for wanted in self.wanted {
            let name = Name(scope: wanted.scope, id: try await self.save(wanted))
            readings[name] = Reading(wanted.subscription, in: wanted.scope)
        }
        self.link.becameReady()
        var fetcher = self.purpose.state.map { state in
            ChangeFetcher(container: self.container, link: self.link, state: state) { [purpose] change, _ in
                try purpose.print(change)
            }
        }
        if fetcher != nil {
            if self.wanted.isEmpty { readings = try await self.readingsOfAll() }
            for reading in Set(readings.values).inOrder {
                if self.purpose.beginsNow { try await fetcher?.beginNow(reading) }
                try await fetcher?.fetch(reading)
            }
            Output.status("caught up")
        }
        while let notification = await notifications.next() {
            let notice = Notice(notification, receivedAt: Date())
            let name = Name(scope: notice.scope, id: notice.subscription ?? "")
            // Other programs of the user have subscriptions of their own.
            guard self.wanted.isEmpty || readings[name] != nil else { continue }
            try self.purpose.print(notice)
            if fetcher != nil {
                if readings[name] == nil { readings = try await self.readingsOfAll() }
                try await fetcher?.fetch(readings[name]?.within(notice.zone) ?? Reading(notice))
            }
            try await self.purpose.run(notice)
        }
    }

    /// - Returns: The ID under which the server has it.
    private func save(_ wanted: WantedSubscription) async throws -> CKSubscription.ID {
        let database = self.container.database(with: wanted.scope)
        do {
            try await self.link.ask { _ = try await database.save(wanted.subscription) }
            Output.status("subscribed to \(wanted.text)")
            return wanted.id
        } catch let error as CKError {
            guard error.code == .serverRejectedRequest else {
                throw ListenFailure(error, to: "subscribe to \(wanted.text)")
            }
            let all = try await self.link.ask { try await database.allSubscriptions() }
            guard let same = all.first(where: { $0.isAboutTheSame(as: wanted.subscription) }) else {
                throw ListenFailure(error, to: "subscribe to \(wanted.text)")
            }
            Output.status("subscribed to \(wanted.text) before, as \(same.subscriptionID)")
            return same.subscriptionID
        }
    }

    /// Returns the readings of all the user's subscriptions, of any program.
    private func readingsOfAll() async throws -> [Name: Reading] {
        var readings: [Name: Reading] = [:]
        for (scope, subscription) in try await self.container.subscriptionsOfAll(self.link) {
            let name = Name(scope: scope, id: subscription.subscriptionID)
            readings[name] = Reading(subscription, in: scope)
        }
        return readings
    }
}

extension CKContainer {
    /// Returns all subscriptions of the user, with the database of each.
    ///
    /// With a link it asks until there is a response, without one only once.
    func subscriptionsOfAll(_ link: Link?) async throws -> [(scope: CKDatabase.Scope, CKSubscription)] {
        var all: [(scope: CKDatabase.Scope, CKSubscription)] = []
        for scope in [CKDatabase.Scope.private, .shared, .public] {
            let database = self.database(with: scope)
            do {
                let subscriptions =
                    if let link { try await link.ask { try await database.allSubscriptions() } } else {
                        try await database.allSubscriptions()
                    }
                all += subscriptions.map { (scope, $0) }
            } catch let error as CKError where error.code == .permissionFailure {
                // A service has only the public database.
            }
        }
        return all
    }
}

extension Set<Reading> {
    /// The same from run to run.
    fileprivate var inOrder: [Reading] { self.sorted { $0.text < $1.text } }
}
