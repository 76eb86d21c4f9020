package import RecordModel
package import StorageContract

/// The beginning of a copy of zones, as of its snapshot.
package struct ZoneCopyBeginning: Hashable, Sendable {
    package struct Zone: Hashable, Sendable {
        package var name: String
        package var records: Int64
        /// Encoded bodies.
        package var bytes: Int64
        package var encryptionScope: EncryptionScope
    }

    /// The position of the database.
    package var position: Int64
    package var epoch: Int64
    package var zones: [Zone]
    /// The types of the records, and no others.
    package var schema: SchemaDocument
}

/// A step of a copy of zones.
package enum ZoneCopyStep: Sendable {
    /// The first step.
    case beginning(ZoneCopyBeginning)
    /// A record with the files that it names.
    ///
    /// Parents come before their children, and a share comes right behind its root; the share of a whole
    /// zone is the first record of the zone. A share is as its owner sees it.
    case record(Record, [StoredAsset])
}

/// Passes all records of some zones from one snapshot.
struct ZoneCopy {
    let requester: Requester
    let snapshot: any Snapshot
    /// Returns false to end the copy.
    let visit: (ZoneCopyStep) -> Bool

    /// Passes the zones with these names, or with `nil` all of the database.
    func run(_ names: [String]?) throws(FeedFailure) {
        let database = self.requester.database
        var zones: [FeedZone] = []
        let state = try FeedFailure.wrapping { () throws(StorageFailure) in
            try self.snapshot.state(of: database)
        }
        guard let state else { throw .refused(.internalFault) }
        if let names {
            for name in names {
                let zone = try FeedFailure.wrapping { () throws(StorageFailure) in
                    try self.snapshot.feedZone(named: name, in: database)
                }
                guard let zone else { throw .refused(.zoneMissing) }
                zones.append(zone)
            }
        } else {
            zones = try FeedFailure.wrapping { () throws(StorageFailure) in
                try self.snapshot.zones(of: database, after: ChangeToken.nothing, limit: 1_000_000)
            }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
        let beginning = ZoneCopyBeginning(
            position: state.position,
            epoch: state.epoch,
            zones: try FeedFailure.wrapping { () throws(StorageFailure) in
                try zones.map { (zone) throws(StorageFailure) in
                    ZoneCopyBeginning.Zone(
                        name: zone.name,
                        records: zone.recordCount,
                        bytes: zone.byteCount,
                        encryptionScope: try self.snapshot.encryptionScope(of: zone.key)
                    )
                }
            },
            schema: try self.schema(of: try self.types(in: zones))
        )
        guard self.visit(.beginning(beginning)) else { return }
        for zone in zones {
            var walk = try ZoneCopyWalk(self, zone)
            guard try walk.run() else { return }
        }
    }

    /// The record types of the zones, found by a look at each record.
    private func types(in zones: [FeedZone]) throws(FeedFailure) -> Set<String> {
        var types: Set<String> = []
        var last: [UInt8] = []
        for zone in zones {
            try self.snapshot.visitRecords(of: zone.key, beyond: nil, isDescending: false) {
                (row: borrowing FeedRow) throws(FeedFailure) in
                guard !row.record.recordType.elementsEqual(last) else { return true }
                last = Array(row.record.recordType)
                types.insert(String(decoding: last, as: UTF8.self))
                return true
            }
        }
        return types
    }

    private func schema(of types: Set<String>) throws(FeedFailure) -> SchemaDocument {
        var schema = try FeedFailure.wrapping { () throws(StorageFailure) in
            try SchemaRows(environment: self.requester.environment, rows: self.snapshot).document()
        }
        schema.recordTypes.removeAll { !types.contains($0.name) }
        let named = Set(schema.recordTypes.flatMap { $0.grants.map(\.role) })
        schema.roles.removeAll { !named.contains($0) }
        return schema
    }
}

/// The walk over one zone.
private struct ZoneCopyWalk {
    private let copy: ZoneCopy
    private let zone: FeedZone
    private let id: ZoneID
    /// By the name of the root.
    private var shares: [ExactName: StoredShare] = [:]
    private var zoneWide: StoredShare?
    /// Numbers of records that were passed before their turn.
    private var ahead: Set<Int64> = []
    /// A parent that was passed: most children follow each other.
    private var lastParent: String?

    init(_ copy: ZoneCopy, _ zone: FeedZone) throws(FeedFailure) {
        self.copy = copy
        self.zone = zone
        self.id = ZoneID(zoneName: zone.name)
        let shares = try FeedFailure.wrapping { () throws(StorageFailure) in
            try copy.snapshot.shares(in: zone.key)
        }
        for share in shares {
            if let root = share.root { self.shares[ExactName(root)] = share } else { self.zoneWide = share }
        }
    }

    /// - Returns: False if the visitor ended the copy.
    mutating func run() throws(FeedFailure) -> Bool {
        if let zoneWide, try !self.pass(zoneWide) { return false }
        var goesOn = true
        try self.copy.snapshot.visitRecords(of: self.zone.key, beyond: nil, isDescending: false) {
            (row: borrowing FeedRow) throws(FeedFailure) in
            guard self.ahead.remove(row.number) == nil, !row.record.isShare else { return true }
            let record = row.record.record(in: self.id)
            for ancestor in try self.missingAncestors(of: record, numbered: row.number).reversed() {
                self.ahead.insert(ancestor.stored.number)
                goesOn = try self.pass(
                    ancestor.stored.record(id: RecordID(zone: self.id, recordName: ancestor.name))
                )
                guard goesOn else { return false }
            }
            goesOn = try self.pass(record)
            return goesOn
        }
        return goesOn
    }

    /// Ancestors that would have a later turn, the nearest first.
    private mutating func missingAncestors(
        of record: Record,
        numbered number: Int64
    ) throws(FeedFailure) -> [NamedRecord] {
        guard !ExactName.areSame(record.parent, self.lastParent) else { return [] }
        let snapshot = self.copy.snapshot
        let key = self.zone.key
        var missing: [NamedRecord] = []
        var next = record.parent
        while let name = next {
            let ancestor = try FeedFailure.wrapping { () throws(StorageFailure) -> NamedRecord? in
                guard let positions = try snapshot.positions(ofRecordNamed: name, in: key),
                    positions.number > number, !self.ahead.contains(positions.number)
                else { return nil }
                return try snapshot.record(RecordKey(zone: key, number: positions.number))
            }
            guard let ancestor else { break }
            missing.append(ancestor)
            next = ancestor.stored.parent
        }
        self.lastParent = record.parent
        return missing
    }

    /// Passes a record, and the share that begins at it.
    private func pass(_ record: Record) throws(FeedFailure) -> Bool {
        guard record.body.isIntact else { throw .refused(.recordDamaged(record.id)) }
        let database = self.zone.key.database
        let assets = try FeedFailure.wrapping { () throws(StorageFailure) -> [StoredAsset] in
            var assets: [StoredAsset] = []
            for asset in Set(record.body.namedAssets.map(\.asset)) {
                guard let number = try self.copy.snapshot.asset(asset, in: database) else {
                    throw .unexpected(code: 0)
                }
                assets.append(StoredAsset(number: number, asset: asset))
            }
            return assets
        }
        guard self.copy.visit(.record(record, assets)) else { return false }
        guard let share = self.shares[ExactName(record.id.recordName)] else { return true }
        return try self.pass(share)
    }

    private func pass(_ share: StoredShare) throws(FeedFailure) -> Bool {
        let stored = try FeedFailure.wrapping { () throws(StorageFailure) in
            try self.copy.snapshot.record(named: share.name, in: self.zone.key)
        }
        guard let stored else { throw .storage(.unexpected(code: 0)) }
        let id = RecordID(zone: self.id, recordName: share.name)
        return self.copy.visit(.record(stored.record(id: id), []))
    }
}
