import GRDB
import GRDBSQLite
import RecordModel
import RecordStore

/// A connection that reads, with its statements.
///
/// Each call is a transaction: one snapshot.
///
/// SAFETY: one thread at a time has it: the pool hands it out to one borrower, a read thread keeps its own.
final class ReadConnection: @unchecked Sendable {
    private let queue: DatabaseQueue
    private let connection: OpaquePointer
    private let copies: LogCopies
    /// The copies of the log that the connection has heard of.
    private var copiesKnown: Int
    private let begin, commit, zone, zones, record, typeName, authorName: HotStatement
    let subscription, subscriptions, completeAsset: HotStatement
    let grants: GrantStatements
    let shares: SharingConnection
    /// The statements of feeds.
    let feedStatements: FeedStatements
    /// The statements of queries.
    let queryStatements: QueryStatements
    let knownTypes: KnownTypes
    private let typeNames = NameMemory()
    private let authorNames = NameMemory()

    init(file: DatabaseFile) throws {
        let queue = try file.openReader()
        // SAFETY: the queue keeps the connection open as long as it lives, and nobody else uses the queue.
        nonisolated(unsafe) let connection = queue.inDatabase { $0.sqliteConnection! }
        self.queue = queue
        self.connection = connection
        self.copies = file.copies
        self.copiesKnown = file.copies.number
        self.begin = try HotStatement("BEGIN", on: connection)
        self.commit = try HotStatement("COMMIT", on: connection)
        self.zone = try HotStatement(
            ZoneQueries.find,
            on: connection
        )
        self.zones = try HotStatement(
            "SELECT name FROM zone WHERE database = ? ORDER BY name",
            on: connection
        )
        self.record = try HotStatement(RecordColumns.select, on: connection)
        let ofOwner = """
            SELECT \(SubscriptionColumns.names) FROM subscription
            WHERE database = ? AND owner = (SELECT number FROM author WHERE record_name = ?)
            """
        self.subscription = try HotStatement("\(ofOwner) AND id = ?", on: connection)
        self.subscriptions = try HotStatement("\(ofOwner) ORDER BY id", on: connection)
        self.completeAsset = try HotStatement(AssetQueries.complete, on: connection)
        self.queryStatements = try QueryStatements(connection)
        self.knownTypes = try KnownTypes(connection: connection)
        self.feedStatements = try FeedStatements(connection)
        self.typeName = try HotStatement(NameQueries.recordType, on: connection)
        self.authorName = try HotStatement(NameQueries.author, on: connection)
        self.grants = try GrantStatements(connection)
        self.shares = try SharingConnection(connection)
    }

    /// One outcome an ID, in order.
    ///
    /// Bodies of more than `bytesMax` together are refused with `answerTooLarge`.
    func records(
        _ ids: [RecordID],
        desiredKeys: [String]?,
        for requester: Requester,
        bytesMax: Int
    ) throws(StorageFailure) -> Result<[ReadOutcome], StoreError> {
        try self.snapshot { () throws(StorageFailure) in
            try self.outcomes(ids, desiredKeys: desiredKeys, for: requester, bytesMax: bytesMax)
        }
    }

    /// The same, within a snapshot.
    func outcomes(
        _ ids: [RecordID],
        desiredKeys: [String]?,
        for requester: Requester,
        bytesMax: Int
    ) throws(StorageFailure) -> Result<[ReadOutcome], StoreError> {
        let keys = desiredKeys.map { Set($0) }
        var outcomes: [ReadOutcome] = []
        outcomes.reserveCapacity(ids.count)
        var bytes = 0
        var lastZone: (id: ZoneID, key: ZoneKey?)?
        var shared: SharedAccess?
        var lastAccess: (type: String, access: TypeAccess)?
        for id in ids {
            if lastZone?.id != id.zone {
                lastZone = (id.zone, try self.key(of: id.zone, requester))
                if requester.scope == .shared, let zone = lastZone?.key {
                    shared = try self.shares.access(to: zone, of: requester.database)
                }
            }
            guard let zone = lastZone?.key, shared?.isEmpty != true else {
                outcomes.append(.failed(.missing(id.zone)))
                continue
            }
            guard var stored = try self.stored(id.recordName, in: zone) else {
                outcomes.append(.failed(.missing(recordNamed: id.recordName)))
                continue
            }
            if let shared {
                guard let grant = try self.shares.grant(of: stored.number, shared) else {
                    outcomes.append(.failed(.recordMissing))
                    continue
                }
                if grant.share.root == id.recordName { stored = stored.asRoot }
            }
            if requester.scope == .public {
                // Read in the snapshot: a role that is taken away counts from the next request on.
                let type = stored.recordType
                if lastAccess?.type != type {
                    lastAccess = (type, try self.grants.access(toType: type, for: requester))
                }
                guard lastAccess?.access.mayRead(stored) == true else {
                    outcomes.append(.failed(.permissionDenied(.read)))
                    continue
                }
            }
            let record = stored.seen(by: requester.userRecordName ?? "").record(id: id, keeping: keys)
            bytes += record.body.bytes.count
            guard bytes <= bytesMax else { return .failure(.answerTooLarge(bytes: bytes)) }
            outcomes.append(.record(record))
        }
        return .success(outcomes)
    }

    /// One outcome an ID, in order, or every zone of the database, by name.
    ///
    /// Reads no further when the zones take more than `bytesMax`, and refuses with `answerTooLarge`.
    func zones(
        _ selection: FetchZones.Selection,
        for requester: Requester,
        bytesMax: Int
    ) throws(StorageFailure) -> Result<[ReadOutcome], StoreError> {
        try self.snapshot { () throws(StorageFailure) in
            var outcomes: [ReadOutcome] = []
            var bytes = 0
            switch selection {
            case .ids(let ids):
                for id in ids {
                    let zone = try self.zone(id, requester)
                    bytes += zone?.answerBytes ?? 0
                    guard bytes <= bytesMax else { return .failure(.answerTooLarge(bytes: bytes)) }
                    outcomes.append(zone.map { .zone($0) } ?? .failed(.missing(id)))
                }
            case .all:
                self.zones.bind(1, requester.database.rawValue)
                defer { self.zones.reset() }
                while try self.zones.step() {
                    let id = Access.zone(storedAs: self.zones.text(0), for: requester)
                    guard let zone = try self.zone(id, requester) else { continue }
                    bytes += zone.answerBytes
                    guard bytes <= bytesMax else { return .failure(.answerTooLarge(bytes: bytes)) }
                    outcomes.append(.zone(zone))
                }
            }
            return .success(outcomes)
        }
    }

    func snapshot<Answer>(
        _ read: () throws(StorageFailure) -> Answer
    ) throws(StorageFailure) -> Answer {
        self.typeNames.forgetIfMany()
        self.authorNames.forgetIfMany()
        let copies = self.copies.number
        if copies != self.copiesKnown {
            self.copiesKnown = copies
            DatabaseFile.mapAnew(self.connection)
        }
        try self.begin.run()
        do {
            let answer = try read()
            try self.commit.run()
            return answer
        } catch {
            // Ends the snapshot if it still stands; the failure that matters is the first.
            try? self.commit.run()
            throw error
        }
    }

    /// `nil`: it is not there for the requester.
    private func zone(_ id: ZoneID, _ requester: Requester) throws(StorageFailure) -> Zone? {
        guard let key = try self.key(of: id, requester) else { return nil }
        var zone = Zone(id: id, scope: requester.scope)
        guard requester.scope != .public, !id.isDefault else { return zone }
        if requester.scope == .shared {
            let access = try self.shares.access(to: key, of: requester.database)
            guard !access.isEmpty else { return nil }
            zone.share = access.zoneWide?.share.name
        } else {
            zone.share = try self.shares.zoneWideShare(of: key)
        }
        return zone
    }

    func key(of zone: ZoneID, _ requester: Requester) throws(StorageFailure) -> ZoneKey? {
        guard let name = Access.storedName(of: zone, for: requester) else { return nil }
        return try self.key(ofZone: name, in: requester.database)
    }

    func key(ofZone name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        self.zone.bind(1, database.rawValue)
        self.zone.bind(2, name)
        guard try self.zone.step() else { return nil }
        defer { self.zone.reset() }
        return ZoneKey(self.zone, in: database)
    }

    func stored(_ name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        let statement = self.record
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, name)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return try self.stored(statement)
    }

    /// The record in the row that a statement with the columns of a record is at.
    func stored(_ statement: HotStatement) throws(StorageFailure) -> StoredRecord {
        StoredRecord(
            number: statement.integer(RecordColumns.number),
            recordType: try self.typeName(statement.integer(RecordColumns.type)),
            position: statement.integer(RecordColumns.position),
            system: try self.systemFields(statement),
            parent: statement.isNull(RecordColumns.parent) ? nil : statement.text(RecordColumns.parent),
            body: RecordBody(trusted: statement.bytes(RecordColumns.body))
        )
    }

    /// Those of the record in such a row.
    func systemFields(_ statement: HotStatement) throws(StorageFailure) -> SystemFields {
        let creator = statement.integer(RecordColumns.creator)
        let modifier = statement.integer(RecordColumns.modifier)
        let createdBy = try self.authorName(creator)
        return SystemFields(
            createdMilliseconds: statement.integer(RecordColumns.created),
            modifiedMilliseconds: statement.integer(RecordColumns.modified),
            createdBy: createdBy,
            modifiedBy: modifier == creator ? createdBy : try self.authorName(modifier)
        )
    }

    /// The same, with names that are lent until the snapshot ends.
    func lentSystemFields(_ statement: HotStatement) throws(StorageFailure) -> LentSystemFields {
        let creator = statement.integer(RecordColumns.creator)
        let modifier = statement.integer(RecordColumns.modifier)
        let createdBy = try self.lentAuthorName(creator)
        return LentSystemFields(
            createdMilliseconds: statement.integer(RecordColumns.created),
            modifiedMilliseconds: statement.integer(RecordColumns.modified),
            createdBy: createdBy,
            modifiedBy: modifier == creator ? createdBy : try self.lentAuthorName(modifier)
        )
    }

    // MARK: Names

    /// The name of a record type.
    func typeName(_ number: Int64) throws(StorageFailure) -> String {
        try self.name(of: number, self.typeNames, self.typeName).text
    }

    /// The record name of a user; empty for 0, which is nobody.
    func authorName(_ number: Int64) throws(StorageFailure) -> String {
        guard number != 0 else { return "" }
        return try self.name(of: number, self.authorNames, self.authorName).text
    }

    /// The same in UTF-8.
    // SAFETY: lent until the snapshot ends.
    func lentTypeName(_ number: Int64) throws(StorageFailure) -> UnsafeRawBufferPointer {
        if let name = self.typeNames.lastUTF8(of: number) { return name }
        return try self.name(of: number, self.typeNames, self.typeName).utf8
    }

    // SAFETY: as above.
    private func lentAuthorName(_ number: Int64) throws(StorageFailure) -> UnsafeRawBufferPointer {
        if let name = self.authorNames.lastUTF8(of: number) { return name }
        // SAFETY: nothing is there to be read.
        guard number != 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return try self.name(of: number, self.authorNames, self.authorName).utf8
    }

    private func name(
        of number: Int64,
        _ memory: NameMemory,
        _ statement: HotStatement
    ) throws(StorageFailure) -> NameMemory.Name {
        if let name = memory.name(of: number) { return name }
        statement.bind(1, number)
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { statement.reset() }
        return memory.keep(statement.text(0), of: number)
    }
}

extension Zone {
    /// What the zone takes in an answer, and in memory, about: its names and what surrounds them.
    fileprivate var answerBytes: Int {
        self.id.zoneName.utf8.count + self.id.ownerName.utf8.count + (self.share?.utf8.count ?? 0) + 64
    }
}
