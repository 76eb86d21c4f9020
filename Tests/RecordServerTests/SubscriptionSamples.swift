import NIOCore
import RecordModel
import RecordStore
import StorageContract
import WireProtocol

@testable import RecordServer

/// What tests of listening are made of.
enum Sample {
    static let run = ServerRun.fresh()
    static let environment = EnvironmentID(rawValue: 1)
    static let publicDatabase = DatabaseID(rawValue: 1)
    static let privateDatabase = DatabaseID(rawValue: 2)
    static let owner = ServerUnderTest.userRecordName

    static let signIn = SignIn(
        environment: environment,
        publicDatabase: publicDatabase,
        privateDatabase: privateDatabase,
        userRecordName: owner
    )

    static func listener(
        _ number: UInt64,
        loop: Int = 0,
        signIn: SignIn = signIn
    )
        -> NotificationRouting.Listener
    {
        let installation = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16)
        let identity = ListenerIdentity(installation: installation, signIn: signIn)
        return NotificationRouting.Listener(number: number, loop: loop, identity: identity)
    }

    static func watched(
        _ id: String,
        _ kind: Subscription.Kind,
        database: DatabaseID = privateDatabase,
        owner: String = owner,
        info: NotificationInfo? = nil,
        savedAt position: Int64 = 1,
        hasChanges: Bool = false,
        databasePosition: Int64 = 10
    ) -> WatchedSubscription {
        WatchedSubscription(
            key: SubscriptionKey(database: database, owner: owner, id: id, position: position),
            subscription: Subscription(id: id, kind: kind, info: info),
            hasChanges: hasChanges,
            position: databasePosition
        )
    }

    static func subject(
        _ number: UInt64,
        _ kind: Subscription.Kind = .database(recordType: nil),
        info: NotificationInfo? = nil
    ) -> ListenedSubscription {
        let watched = self.watched("sub-\(number)", kind, info: info)
        return ListenedSubscription(
            number: number,
            key: watched.key,
            subscription: watched.subscription,
            scope: .private
        )
    }

    static func query(
        _ recordType: String = "Note",
        _ predicate: Predicate = .all,
        zone: String? = nil,
        on firesOn: Subscription.FiresOn = .events
    ) -> Subscription.Kind {
        .query(
            recordType: recordType,
            predicate: predicate,
            zone: zone.map { ZoneID(zoneName: $0) },
            firesOn: firesOn
        )
    }

    static func stored(
        _ fields: [Field] = [],
        recordType: String = "Note",
        position: Int64 = 1,
        createdBy: String = owner
    ) -> StoredRecord {
        StoredRecord(
            number: 1,
            recordType: recordType,
            position: position,
            system: SystemFields(
                createdMilliseconds: 1,
                modifiedMilliseconds: 1,
                createdBy: createdBy,
                modifiedBy: createdBy
            ),
            parent: nil,
            body: RecordBody(fields)
        )
    }

    /// Fields of a type, each with the index of its first save.
    static func definitions(_ fields: [String: FieldType]) -> FieldDefinitions {
        var definitions = FieldDefinitions()
        for (place, field) in fields.sorted(by: { $0.key < $1.key }).enumerated() {
            definitions.define(
                FieldDefinition(
                    type: field.value,
                    isEncrypted: false,
                    indexes: .queryable,
                    index: Int64(place + 1)
                ),
                field: field.key
            )
        }
        return definitions
    }

    static func change(
        _ kind: CommittedChange.Kind,
        at position: Int64,
        in database: DatabaseID = privateDatabase,
        by connection: UInt64? = nil,
        of run: ServerRun = Sample.run
    ) -> CommittedChange {
        CommittedChange(
            database: database,
            environment: environment,
            position: position,
            origin: connection.map { ChangeOrigin(run: run, connection: $0) },
            kind: kind
        )
    }
}

extension NotificationRouting {
    /// Has a connection listen.
    mutating func start(
        _ listener: Listener,
        _ subscriptions: [WatchedSubscription],
        positions: [DatabaseID: Int64] = [:]
    ) {
        let start = ListeningStart(subscriptions: subscriptions, positions: positions)
        self.asked(listener.number)
        guard !self.started(listener, .success(start)) else { return }
        for var joining in JoiningListener.all(of: listener, start) { _ = self.joined(&joining) }
    }

    /// Routes a transaction at once.
    mutating func committed(
        _ changes: [CommittedChange],
        mayRead: (ReadQuestion) -> Bool = { _ in true }
    ) {
        var commit = RoutedCommit(CommittedChanges(committedMilliseconds: 77, changes: changes))
        while self.route(&commit) == .asks { commit.answer(commit.questions.map(mayRead)) }
    }
}

extension NotificationRouting.Post {
    var delivery: NotificationRouting.Delivery? {
        guard case .delivery(let delivery) = self else { return nil }
        return delivery
    }

    /// The message as one listener gets it.
    var notification: RecordModel.Notification? {
        guard case .delivery(let delivery) = self else { return nil }
        return try? delivery.notification.decoded()
    }
}

extension OutgoingNotification {
    func decoded(number: UInt64 = 1) throws -> RecordModel.Notification {
        var buffer = ByteBuffer()
        self.content.encode(number: number, isCoalesced: self.isCoalesced, into: &buffer)
        return try RecordModel.Notification(decoding: buffer)
    }
}
