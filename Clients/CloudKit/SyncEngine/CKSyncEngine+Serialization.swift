internal import Foundation
private import RecordModel

extension CKSyncEngine.State {
    /// An engine's state, which the app stores and passes to the engine at the next launch.
    ///
    /// It is opaque. It covers the events before it: store both at once, or the state last. Changes
    /// in flight are pending in it, because it is not known whether the server has them.
    public struct Serialization: Codable, Sendable {
        /// The version, which rises if an older version of this library could not read the state.
        static let version = 1

        private let latest: SyncState

        /// The state with which the next engine starts.
        ///
        /// It is made when the app stores the state or starts an engine, and not with each update
        /// that the app only holds: it numbers all pending changes anew.
        var content: SyncState { self.latest.kept }

        init(_ latest: SyncState) { self.latest = latest }

        /// Reads a state.
        ///
        /// - Throws: `DecodingError` if it is damaged or of a later version: start without a state
        ///   then.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let version = try container.decode(Int.self, forKey: .version)
            guard version == Self.version else {
                throw DecodingError.dataCorruptedError(
                    forKey: .version,
                    in: container,
                    debugDescription: "A sync engine's state of the unknown version \(version)"
                )
            }
            self.latest = try SyncState(container)
        }

        /// Writes the state.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(Self.version, forKey: .version)
            try self.content.encode(to: &container)
        }
    }
}

extension CKSyncEngine.State.Serialization {
    /// The pending changes, for tests.
    package var pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] {
        self.content.records.changes
    }

    /// The pending changes, for tests.
    package var pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange] {
        self.content.zoneChanges.changes
    }

    fileprivate enum CodingKeys: String, CodingKey {
        case version
        case home
        case user
        case hadUser
        case databaseToken
        case databaseStartsAnew
        case zones
        case records
        case zoneChanges
        case hasUntrackedChanges
    }
}

/// A stored zone, with what is known of it; changes refer to it by its index.
private struct KeptZone: Codable {
    var name: String
    /// `nil` if it is the user.
    var owner: String?
    var isKnown: Bool
    var token: Data?
    var isBehind: Bool
    var startsAnew: Bool

    init(_ id: CKRecordZone.ID, _ progress: SyncState.Progress?) {
        self.name = id.zoneName
        self.owner = id.ownerName == CKCurrentUserDefaultName ? nil : id.ownerName
        self.isKnown = progress != nil
        self.token = progress?.token.map { Data($0.bytes) }
        self.isBehind = progress?.isBehind ?? false
        self.startsAnew = progress?.startsAnew ?? false
    }

    var id: CKRecordZone.ID {
        CKRecordZone.ID(zoneName: self.name, ownerName: self.owner ?? CKCurrentUserDefaultName)
    }
}

private struct KeptChange: Codable {
    var zone: Int
    /// `nil` for a change of the zone itself.
    var name: String?
    var isDeletion: Bool
    /// The scope of a zone that is to be created.
    var encryptionScope: Int?
}

extension SyncState {
    fileprivate init(_ container: KeyedDecodingContainer<CKSyncEngine.State.Serialization.CodingKeys>) throws
    {
        let zones = try container.decode([KeptZone].self, forKey: .zones)
        func zone(_ change: KeptChange) throws -> CKRecordZone.ID {
            guard zones.indices.contains(change.zone) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .zones,
                    in: container,
                    debugDescription: "A change in a zone that is not there"
                )
            }
            return zones[change.zone].id
        }
        var known: [CKRecordZone.ID: Progress] = [:]
        for zone in zones where zone.isKnown {
            known[zone.id] = Progress(
                token: try CKServerChangeToken(kept: zone.token, .zones, container),
                isBehind: zone.isBehind,
                startsAnew: zone.startsAnew
            )
        }
        self.init(
            home: try container.decodeIfPresent(String.self, forKey: .home),
            user: try container.decodeIfPresent(String.self, forKey: .user),
            hadUser: try container.decodeIfPresent(Bool.self, forKey: .hadUser) ?? false,
            databaseToken: try CKServerChangeToken(
                kept: container.decodeIfPresent(Data.self, forKey: .databaseToken),
                .databaseToken,
                container
            ),
            databaseStartsAnew: try container.decode(Bool.self, forKey: .databaseStartsAnew),
            zones: known,
            hasUntrackedChanges: try container.decode(Bool.self, forKey: .hasUntrackedChanges)
        )
        for change in try container.decode([KeptChange].self, forKey: .zoneChanges) {
            let id = try zone(change)
            let zone = CKRecordZone(zoneID: id)
            let scope = change.encryptionScope.flatMap(CKRecordZone.EncryptionScope.init)
            zone.encryptionScope = scope ?? .perRecord
            self.add([change.isDeletion ? .deleteZone(id) : .saveZone(zone)])
        }
        for change in try container.decode([KeptChange].self, forKey: .records) {
            let id = CKRecord.ID(recordName: change.name ?? "", zoneID: try zone(change))
            self.add([change.isDeletion ? .deleteRecord(id) : .saveRecord(id)])
        }
    }

    fileprivate func encode(
        to container: inout KeyedEncodingContainer<CKSyncEngine.State.Serialization.CodingKeys>
    ) throws {
        var zones: [KeptZone] = []
        var indices: [CKRecordZone.ID: Int] = [:]
        func index(_ id: CKRecordZone.ID) -> Int {
            if let index = indices[id] { return index }
            indices[id] = zones.count
            zones.append(KeptZone(id, self.zones[id]))
            return zones.count - 1
        }
        // The order is fixed, so that equal states have equal texts.
        for id in self.zones.keys.sorted(by: { ($0.zoneName, $0.ownerName) < ($1.zoneName, $1.ownerName) }) {
            _ = index(id)
        }
        let zoneChanges = self.zoneChanges.changes.map { change in
            switch change {
            case .saveZone(let zone):
                KeptChange(
                    zone: index(zone.zoneID),
                    isDeletion: false,
                    encryptionScope: zone.encryptionScope.rawValue
                )
            case .deleteZone(let id): KeptChange(zone: index(id), isDeletion: true)
            }
        }
        let records = self.records.changes.map { change in
            switch change {
            case .saveRecord(let id):
                KeptChange(zone: index(id.zoneID), name: id.recordName, isDeletion: false)
            case .deleteRecord(let id):
                KeptChange(zone: index(id.zoneID), name: id.recordName, isDeletion: true)
            }
        }
        try container.encodeIfPresent(self.home, forKey: .home)
        try container.encodeIfPresent(self.user, forKey: .user)
        if self.hadUser { try container.encode(true, forKey: .hadUser) }
        try container.encodeIfPresent(self.databaseToken.map { Data($0.bytes) }, forKey: .databaseToken)
        try container.encode(self.databaseStartsAnew, forKey: .databaseStartsAnew)
        try container.encode(zones, forKey: .zones)
        try container.encode(zoneChanges, forKey: .zoneChanges)
        try container.encode(records, forKey: .records)
        try container.encode(self.hasUntrackedChanges, forKey: .hasUntrackedChanges)
    }
}

extension CKServerChangeToken {
    fileprivate convenience init?<Key: CodingKey>(
        kept: Data?,
        _ key: Key,
        _ container: KeyedDecodingContainer<Key>
    ) throws {
        guard let kept else { return nil }
        guard (1...Bounds.tokenBytesMax).contains(kept.count) else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: container,
                debugDescription: "A token of \(kept.count) bytes"
            )
        }
        self.init(bytes: Array(kept))
    }
}
