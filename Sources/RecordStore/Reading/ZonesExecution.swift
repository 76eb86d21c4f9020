package import RecordModel

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
    /// Reads no further if the zones take more than `bytesMax`, and fails with `answerTooLarge`.
    package func outcomes(
        _ selection: FetchZones.Selection
    ) throws(StorageFailure) -> Result<[ReadOutcome], StoreError> {
        switch selection {
        case .ids(let ids): try self.zones(ids)
        case .all: try self.allZones()
        }
    }

    private func zones(_ ids: [ZoneID]) throws(StorageFailure) -> Result<[ReadOutcome], StoreError> {
        var results: [ReadOutcome] = []
        results.reserveCapacity(ids.count)
        var bytes = 0
        for id in ids {
            let zone = try self.zone(id, at: self.snapshot.key(of: id, for: self.requester))
            bytes += zone?.responseBytes ?? 0
            guard bytes <= self.bytesMax else { return .failure(.answerTooLarge(bytes: bytes)) }
            results.append(zone.map { .zone($0) } ?? .failed(.missing(id)))
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
            for named in zones {
                let id = Access.zone(storedAs: named.name, for: self.requester)
                guard let zone = try self.zone(id, at: named.key) else { continue }
                bytes += zone.responseBytes
                guard bytes <= self.bytesMax else { return .failure(.answerTooLarge(bytes: bytes)) }
                results.append(.zone(zone))
            }
        }
        return .success(results)
    }

    /// `nil` if the zone is not there for the requester.
    private func zone(_ id: ZoneID, at key: ZoneKey?) throws(StorageFailure) -> Zone? {
        guard let key else { return nil }
        guard self.requester.scope != .public, !id.isDefault else {
            return Zone(id: id, scope: self.requester.scope)
        }
        let encryptionScope = try self.snapshot.encryptionScope(of: key)
        var zone = Zone(id: id, scope: self.requester.scope, encryptionScope: encryptionScope)
        if self.requester.scope == .shared {
            let access = try self.snapshot.sharedAccess(to: key, of: self.requester.database)
            guard !access.isEmpty else { return nil }
            zone.share = access.zoneWide?.share.name
        } else {
            zone.share = try self.snapshot.zoneWideShare(of: key)?.name
        }
        return zone
    }
}

extension Zone {
    /// Bytes that the zone takes in a response, and in memory, about: its names and what surrounds
    /// them.
    fileprivate var responseBytes: Int {
        self.id.zoneName.utf8.count + self.id.ownerName.utf8.count + (self.share?.utf8.count ?? 0) + 64
    }
}
