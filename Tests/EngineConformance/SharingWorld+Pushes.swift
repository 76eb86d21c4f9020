import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

/// The notifications of a user, compared with those that they may get.
///
/// The owner has a subscription of each kind in the private database, one of them to records with a
/// large value. The others have database subscriptions in their shared databases, and in their own
/// a zone of the same name with subscriptions that nothing ever fires.
extension SharingWorld {
    private static let largeMin: Int64 = 500
    /// An installation that listens for a moment after each step.
    private static let visitor: UInt8 = 9
    private static let ownIDs = ["own zone", "own query", "own database"]
    private static let sharedIDs = ["shared", "shared notes"]

    /// Asks for the value of the field in every way there is.
    private static let info: NotificationInfo = {
        var info = NotificationInfo()
        info.alertBody = "changed"
        info.alertLocalizationArgs = ["n"]
        info.desiredKeys = ["n"]
        return info
    }()

    private static func own(_ predicate: RecordModel.Predicate) -> [RecordModel.Subscription] {
        [
            zoneSubscription(Self.ownIDs[0]), query(Self.ownIDs[1], predicate, in: notes),
            databaseSubscription(Self.ownIDs[2]),
        ]
    }

    func subscribeAll() async throws {
        // The field is there before anybody asks for it.
        let saved = try await self.it.modify([save("first", in: .default, ["n": .int64(0)])])
        #expect(saved.areSaved)
        let isLarge = Predicate.comparison(
            Comparison(field: "n", comparator: .greaterThanOrEquals, operand: .int64(Self.largeMin))
        )
        try await self.subscribe(Self.own(isLarge), by: self.it.privately)
        for reader in self.readers {
            var own = reader.requester
            own.scope = .private
            own.database = try #require(reader.signIn.privateDatabase)
            _ = try await self.it.modifyZones(["notes"], by: own)
            try await self.subscribe(Self.own(.all), by: own)
            var everybodys = own
            everybodys.scope = .public
            everybodys.database = reader.signIn.publicDatabase
            try await self.subscribe([query("public")], by: everybodys)
            let shared = [
                databaseSubscription(Self.sharedIDs[0]),
                databaseSubscription(Self.sharedIDs[1], type: "Note"),
            ]
            try await self.subscribe(shared, by: reader.requester)
        }
        try await self.pushes.listen(as: nil, self.it.signIn)
        for (number, reader) in self.readers.enumerated() {
            try await self.pushes.listen(as: number, reader.signIn)
            _ = try await self.news(for: reader.signIn)
        }
        _ = try await self.news(for: self.it.signIn)
    }

    private func subscribe(_ subscriptions: [RecordModel.Subscription], by requester: Requester) async throws
    {
        let saves = subscriptions.map {
            var subscription = $0
            subscription.info = Self.info
            return subscription
        }
        let outcomes = try await self.it.modifySubscriptions(saves, by: requester)
        #expect(outcomes.allSatisfy { $0.error == nil })
    }

    /// IDs of the subscriptions with news since this was asked last; behind all that was committed.
    private func news(for signIn: SignIn) async throws -> [String] {
        let listener = self.it.listener(Self.visitor, signIn: signIn)
        let start = try await self.it.startWatching(listener)
        self.it.store.subscriptions.stopWatching(listener)
        let known = start.subscriptions.map { Acknowledgement(subscription: $0.key, position: $0.position) }
        self.it.store.subscriptions.acknowledge(known, by: listener)
        return start.subscriptions.filter(\.hasChanges).map(\.key.id)
    }

    // MARK: - Checks

    /// Shared databases are up to date: every user has asked for their zones.
    func checkPushes(rightsBefore: [[String: SharePermission]]) async throws {
        let place: Comment = "\(self.last) after:\n\(self.history.joined(separator: "\n"))"
        var news: [(found: [String], expected: [String])] = []
        var expected: [UInt64: [RecordModel.Notification]] = [:]
        let isAnything = !self.last.changed.isEmpty
        news.append((try await self.news(for: self.it.signIn), isAnything ? Self.ownIDs : []))
        self.expect(self.toldToOwner(), by: nil, in: &expected)
        for (number, reader) in self.readers.enumerated() {
            let isTold = self.isTold(number, rightsBefore[number])
            news.append((try await self.news(for: reader.signIn), isTold ? Self.sharedIDs : []))
            self.expect(isTold ? self.toldToReader(number) : [], by: number, in: &expected)
        }
        for (found, expected) in news {
            #expect(Set(found) == Set(expected), place)
            self.pushChecks += Self.ownIDs.count
        }
        let heard = try self.pushes.take()
        for connection in self.pushes.connections(of: nil) {
            // A record's change is told once.
            #expect(heard[connection, default: []].count == expected[connection, default: []].count, place)
        }
        let everybody: [Int?] = [nil] + self.readers.indices.map { $0 }
        for connection in everybody.flatMap({ self.pushes.connections(of: $0) }) {
            let difference = Set(heard[connection] ?? []).symmetricDifference(expected[connection] ?? [])
            #expect(difference.isEmpty, place)
            self.pushChecks += Self.ownIDs.count
        }
    }

    /// Each connection hears it but the one that made the change.
    private func expect(
        _ notifications: [RecordModel.Notification],
        by reader: Int?,
        in expected: inout [UInt64: [RecordModel.Notification]]
    ) {
        for connection in self.pushes.connections(of: reader) where connection != self.last.origin {
            expected[connection] = notifications
        }
    }

    /// Whether something has changed that existed for the user before or does now, or their permission.
    private func isTold(_ reader: Int, _ before: [String: SharePermission]) -> Bool {
        let after = self.rights(of: reader)
        return before != after || self.last.changed.contains { before[$0] != nil || after[$0] != nil }
    }

    /// Nothing but that there is something.
    private func toldToReader(_ reader: Int) -> [RecordModel.Notification] {
        Self.sharedIDs.map {
            self.notification($0, .shared, .database, to: self.readers[reader].signIn)
        }
    }

    private func toldToOwner() -> [RecordModel.Notification] {
        guard !self.last.changed.isEmpty else { return [] }
        let signIn = self.it.signIn
        return [
            self.notification(Self.ownIDs[0], .private, .zone(notes), to: signIn),
            self.notification(Self.ownIDs[2], .private, .database, to: signIn),
        ]
            + self.last.notes.compactMap { change in
                let isDeleted = change.reason == .recordDeleted
                guard let value = isDeleted ? change.before : change.after, value >= Self.largeMin else {
                    return nil
                }
                let field = Field(name: "n", value: .int64(value))
                let event = RecordModel.Notification.RecordChange(
                    id: id(change.name),
                    reason: change.reason,
                    fields: isDeleted ? .empty : RecordBody([field])
                )
                return self.notification(Self.ownIDs[1], .private, .query(event), to: signIn, "\(value)")
            }
    }

    private func notification(
        _ subscription: String,
        _ scope: DatabaseScope,
        _ event: RecordModel.Notification.Event,
        to signIn: SignIn,
        _ value: String = ""
    ) -> RecordModel.Notification {
        var info = Self.info
        info.alertLocalizationArgs = [value]
        return RecordModel.Notification(
            number: 1,
            subscriptionID: subscription,
            scope: scope,
            event: event,
            owner: signIn.userRecordName ?? "",
            info: info,
            committedMilliseconds: self.it.clock.milliseconds
        )
    }
}
