import RecordModel
import StorageContract
import Testing

@testable import RecordStore

struct ZonesAndAssetsTests {
    private func zones(
        _ selection: FetchZones.Selection,
        _ world: ReadingWorld,
        by requester: Requester = ReadingWorld.owner,
        bytesMax: Int = 1_000_000
    ) throws -> Result<[ReadOutcome], StoreError> {
        try ZonesExecution(for: requester, bytesMax: bytesMax, snapshot: world.snapshot).outcomes(selection)
    }

    @Test func `zones come in the order asked for, and a zone says which share it has`() throws {
        let world = try ReadingWorld()
        let notes = ZoneID(zoneName: "notes")
        let none = ZoneID(zoneName: "none")
        var zone = Zone(id: notes, scope: .private)
        #expect(try self.zones(.ids([none, notes]), world).get() == [.failed(.zoneMissing), .zone(zone)])
        try world.share(nil, 1, with: [])
        zone.share = ShareRecord.zoneWideName
        #expect(try self.zones(.ids([notes]), world).get() == [.zone(zone)])
        #expect(try self.zones(.all, world).get() == [.zone(zone)])
    }

    @Test func `a shared database has the zones in which something is shared`() throws {
        let world = try ReadingWorld()
        let id = ZoneID(zoneName: "notes", ownerName: ReadingWorld.alice)
        let participant = ReadingWorld.participant
        #expect(try self.zones(.all, world, by: participant).get() == [])
        #expect(try self.zones(.ids([id]), world, by: participant).get() == [.failed(.zoneMissing)])
        try world.share("root", 1, with: [])
        let zone = Zone(id: id, scope: .shared)
        #expect(try self.zones(.all, world, by: participant).get() == [.zone(zone)])
        #expect(try self.zones(.ids([id]), world, by: participant).get() == [.zone(zone)])
    }

    @Test func `all zones are read in pieces, by name, until they are too many`() throws {
        let world = try ReadingWorld()
        for number in 0..<600 {
            let key = ZoneKey(database: ReadingWorld.database, number: Int64(1_000 + number))
            try world.snapshot.add(
                zone: "zone\(key.number)",
                in: ReadingWorld.database,
                leadingTo: key
            )
        }
        let names = try self.zones(.all, world).get().map { outcome in
            guard case .zone(let zone) = outcome else { return "" }
            return zone.id.zoneName
        }
        #expect(names == ["notes"] + (0..<600).map { "zone\(1_000 + $0)" })
        guard case .failure(.responseTooLarge) = try self.zones(.all, world, bytesMax: 10_000) else {
            Issue.record("the answer has room")
            return
        }
    }

    @Test func `files are found that a record names, if the record may be read`() throws {
        let world = try ReadingWorld()
        let one = Asset(sha256: [UInt8](repeating: 1, count: 32), size: 10)
        let two = Asset(sha256: [UInt8](repeating: 2, count: 32), size: 20)
        world.add("a", 1, [Field(name: "file", value: .asset(one))])
        var row = AssetRow(
            database: ReadingWorld.database,
            sha256: one.sha256,
            size: one.size,
            state: .complete,
            uploader: 0,
            sinceMilliseconds: nil
        )
        row.number = AssetNumber(rawValue: 5)
        try world.snapshot.tables.put(row)
        func locate(_ hashes: [[UInt8]], of name: String) throws -> Result<[StoredAsset], StoreError> {
            try LocateExecution(
                for: ReadingWorld.owner,
                bytesMax: 1_000_000,
                snapshot: world.snapshot
            ).assets(hashes, of: ReadingWorld.id(name))
        }
        let found = StoredAsset(number: AssetNumber(rawValue: 5), asset: one)
        #expect(try locate([one.sha256, one.sha256], of: "a") == .success([found, found]))
        #expect(try locate([one.sha256, two.sha256], of: "a") == .failure(.assetNotNamed(index: 1)))
        #expect(try locate([one.sha256], of: "b") == .failure(.recordMissing))
    }
}
