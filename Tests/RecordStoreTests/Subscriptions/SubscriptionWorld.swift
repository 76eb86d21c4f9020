import RecordModel
import StorageContract

@testable import RecordStore

/// Alice's private and public database with two zones, in memory, and short words for what tests do
/// with her subscriptions.
struct SubscriptionWorld {
    static let alice = "_00000000000000000000000000000a11"
    static let open = DatabaseID(rawValue: 1)
    static let own = DatabaseID(rawValue: 2)
    static let notes = ZoneID(zoneName: "notes")

    let transaction = MemoryTransaction()

    init() throws {
        for (name, number) in [(ZoneID.defaultZoneName, 0), ("notes", 1), ("other", 2)] as [(String, Int64)] {
            var zone = ZoneRow(database: Self.own, name: name, number: number)
            zone.position = number
            try self.transaction.put(zone)
        }
        self.transaction.positions = [Self.open: 0, Self.own: 2]
    }

    static func listener(_ installation: UInt8 = 1) -> ListenerIdentity {
        ListenerIdentity(
            installation: Array(repeating: installation, count: 16),
            signIn: SignIn(
                environment: EnvironmentID(rawValue: 1),
                publicDatabase: self.open,
                privateDatabase: self.own,
                userRecordName: self.alice
            )
        )
    }

    static func query(in zone: ZoneID? = nil, type: String = "Note") -> Subscription.Kind {
        .query(recordType: type, predicate: .all, zone: zone, firesOn: .all)
    }

    /// Saves a subscription as the rule does, and returns it.
    @discardableResult
    func save(
        _ id: String,
        _ kind: Subscription.Kind,
        zone: Int64? = nil,
        in database: DatabaseID = own,
        of owner: String = alice
    ) throws -> StoredSubscription {
        let existing = try self.transaction.subscription(id, of: owner, in: database)
        let definition = SubscriptionCoding.definition(of: kind)
        let position = self.transaction.takePosition(in: database)
        let isRedefined = existing?.definition != definition
        let stored = StoredSubscription(
            number: existing?.number ?? 0,
            key: SubscriptionKey(database: database, owner: owner, id: id, position: position),
            createdPosition: isRedefined ? position : existing?.createdPosition ?? position,
            zone: zone.map { ZoneKey(database: database, number: $0) },
            definition: definition,
            info: nil
        )
        try self.transaction.save(stored, replacing: existing)
        return stored
    }

    /// Something changes in a zone.
    func change(_ zone: String) throws {
        var row = try self.transaction.row(ZoneRow.byKey, Self.own, zone)!
        row.position = self.transaction.takePosition(in: Self.own)
        try self.transaction.put(row)
    }

    /// IDs of the subscriptions that have news for an installation.
    func news(
        for installation: UInt8 = 1,
        unwritten: [ListenerCursors.Key: ListenerCursors.Cursor] = [:]
    ) throws -> [String] {
        try self.start(for: installation, unwritten: unwritten).filter(\.hasChanges).map(\.key.id)
    }

    func start(
        for installation: UInt8 = 1,
        unwritten: [ListenerCursors.Key: ListenerCursors.Cursor] = [:]
    ) throws -> [WatchedSubscription] {
        try ListenerStart(transaction: self.transaction, unwritten: unwritten)
            .start(of: Self.listener(installation)).subscriptions
    }

    /// What an installation knows of a subscription, as it would be written.
    static func cursor(
        _ subscription: StoredSubscription,
        at position: Int64,
        by installation: UInt8 = 1
    ) -> [ListenerCursors.Key: ListenerCursors.Cursor] {
        let key = ListenerCursors.Key(
            installation: Array(repeating: installation, count: 16),
            database: subscription.key.database,
            owner: subscription.key.owner,
            subscription: subscription.key.id
        )
        return [key: .init(savedPosition: subscription.key.position, position: position)]
    }

    /// What is counted, and what the rows take.
    var counted: (counted: Int, taken: Int) {
        get throws {
            var taken = 0
            for row in try self.transaction.rows(RowRange(SubscriptionRow.byKey)) {
                taken += RowBytes.subscription(row.stored(ownedBy: ""))
            }
            taken += try self.transaction.count(RowRange(ListenerCursorRow.byKey)) * RowBytes.cursor
            return (self.transaction.rowBytes.values.reduce(0, +), taken)
        }
    }
}
