package import RecordModel
package import StorageContract

/// Fetches zones, all from one snapshot.
package struct ZonesExecution {
    private let requester: Requester
    private let bytesMax: Int
    private let snapshot: any Snapshot

    /// Zones that are read at a time.
    private static let piece = 256

    package init(for requester: Requester, bytesMax: Int, snapshot: any Snapshot) {
        self.requester = requester
        self.bytesMax = bytesMax
        self.snapshot = snapshot
    }

    /// One result an ID, in order, or every zone of the database, by name.
    ///
    /// Reads no further if the zones take more than `bytesMax`, and fails with `responseTooLarge`.
    package func outcomes(
        _ selection: FetchZones.Selection
    ) throws(StorageFailure) -> Result<[ReadOutcome], StoreError> {
        switch selection {
        case .ids(let ids): try self.zones(ids)
        case .all: try self.allZones()
        }
    }

    /// The rows of zones that are asked for by ID.
    static func prefetch(_ selection: FetchZones.Selection, for requester: Requester) -> Prefetch? {
        guard case .ids(let ids) = selection else { return nil }
        return Prefetch { (known, _) in
            let named = ids.prefix(Self.piece).map { id in
                let name = Access.storedName(of: id, for: requester)
                return Named(id: id, key: name.flatMap { known.zone(named: $0, in: requester.database) })
            }
            let keys = Self.keysOfRows(named, for: requester.scope)
            guard !keys.isEmpty else { return [] }
            let numbers = keys.map { ZoneRow.byNumber.key($0.database, $0.number).values }
            return [.rows(ZoneRow.table, by: ZoneRow.byNumber.index, keys: numbers)]
        }
    }

    private func zones(_ ids: [ZoneID]) throws(StorageFailure) -> Result<[ReadOutcome], StoreError> {
        var results: [ReadOutcome] = []
        results.reserveCapacity(ids.count)
        var bytes = 0
        var rest = ids[...]
        while !rest.isEmpty {
            var named: [Named] = []
            for id in rest.prefix(Self.piece) {
                named.append(Named(id: id, key: try self.snapshot.key(of: id, for: self.requester)))
            }
            rest = rest.dropFirst(Self.piece)
            for (zone, named) in zip(try self.zones(named), named) {
                bytes += zone?.responseBytes ?? 0
                guard bytes <= self.bytesMax else { return .failure(.responseTooLarge(bytes: bytes)) }
                results.append(zone.map { .zone($0) } ?? .failed(.missing(named.id)))
            }
        }
        return .success(results)
    }

    private func allZones() throws(StorageFailure) -> Result<[ReadOutcome], StoreError> {
        let database = self.requester.database
        var results: [ReadOutcome] = []
        var bytes = 0
        var next: String? = ""
        while let name = next {
            let zones = try self.snapshot.zones(of: database, from: name, limit: Self.piece)
            // The least name that is greater.
            next = zones.count < Self.piece ? nil : zones.last.map { $0.name + "\0" }
            let named = zones.map {
                Named(id: Access.zone(storedAs: $0.name, for: self.requester), key: $0.key)
            }
            for case let zone? in try self.zones(named) {
                bytes += zone.responseBytes
                guard bytes <= self.bytesMax else { return .failure(.responseTooLarge(bytes: bytes)) }
                results.append(.zone(zone))
            }
        }
        return .success(results)
    }

    private struct Named {
        let id: ZoneID
        /// `nil` if there is no such zone.
        let key: ZoneKey?
    }

    /// Whether a zone has a row that says more than its key: a public database and a default zone have
    /// neither scope nor share.
    private static func hasRow(_ id: ZoneID, _ scope: DatabaseScope) -> Bool {
        scope != .public && !id.isDefault
    }

    private static func keysOfRows(_ named: [Named], for scope: DatabaseScope) -> [ZoneKey] {
        named.compactMap { Self.hasRow($0.id, scope) ? $0.key : nil }
    }

    /// Reads what is known of some zones, in their order; `nil` for one that is not there for the
    /// requester.
    private func zones(_ named: [Named]) throws(StorageFailure) -> [Zone?] {
        let scope = self.requester.scope
        let keys = Self.keysOfRows(named, for: scope)
        var encryptionScopes = try self.snapshot.encryptionScopes(of: keys)[...]
        var shares = scope == .private ? try self.snapshot.zoneWideShares(of: keys)[...] : []
        var zones: [Zone?] = []
        zones.reserveCapacity(named.count)
        for zone in named {
            guard let key = zone.key, Self.hasRow(zone.id, scope) else {
                zones.append(zone.key.map { _ in Zone(id: zone.id, scope: scope) })
                continue
            }
            var found = Zone(id: zone.id, scope: scope, encryptionScope: encryptionScopes.removeFirst())
            if scope == .shared {
                let access = try self.snapshot.sharedAccess(to: key, of: self.requester.database)
                found.share = access.zoneWide?.share.name
                zones.append(access.isEmpty ? nil : found)
            } else {
                found.share = shares.removeFirst()?.name
                zones.append(found)
            }
        }
        return zones
    }
}

extension Zone {
    /// Bytes that the zone takes in a response, and in memory, about: its names and what surrounds
    /// them.
    fileprivate var responseBytes: Int {
        self.id.zoneName.utf8.count + self.id.ownerName.utf8.count + (self.share?.utf8.count ?? 0) + 64
    }
}
