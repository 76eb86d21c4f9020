import Foundation
import RecordModel
import Testing
import WireProtocol

@testable import CloudKit

private func archive(_ object: any NSObject & NSSecureCoding) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
}

@Suite struct ChangePageTests {
    private let zoneID = CKRecordZone.ID(zoneName: "a", ownerName: "_them")

    /// The results of a page with these items and this end.
    private func results<Request: BatchRequest>(
        of request: Request,
        _ items: [ItemOutcome],
        _ end: End
    ) throws -> BatchResults<Request> {
        var results = BatchResults<Request>()
        for (index, outcome) in items.enumerated() {
            if let answer = try request.result(of: Item(index: UInt32(index), outcome: outcome), user: "_me")
            {
                results.add(answer)
            }
        }
        results.end = end
        return results
    }

    @Test(arguments: [(nil, 0), (-1, 0), (0, 0), (1, 1), (1_001, 1_001), (Int.max, UInt32.max)])
    func `a limit is what the user said, or the server's`(limit: Int?, asked: UInt32) throws {
        let page = ZoneChangesPage(
            self.zoneID,
            since: CKServerChangeToken("t"),
            desiredKeys: ["k"],
            limit: limit,
            order: .newestFirst,
            scope: .private
        )
        let expected = FetchChanges(
            scope: .private,
            zone: ZoneID(zoneName: "a", ownerName: "_them"),
            token: [0x74],
            desiredKeys: ["k", "___share", "___sharing"],
            limit: asked,
            order: .newestFirst
        )
        #expect(try page.operation(user: "_me") == .fetchChanges(expected))
        let zones = DatabaseChangesPage(since: nil, limit: limit, scope: .public)
        #expect(
            try zones.operation(user: "_me")
                == .fetchDatabaseChanges(FetchDatabaseChanges(scope: .public, limit: asked))
        )
    }

    @Test func `a page of a zone is modifications by ID, deletions and the token`() throws {
        let page = ZoneChangesPage(self.zoneID, since: nil, scope: .private)
        let end = End(token: [1], moreComing: true)
        let changes = try self.results(of: page, [saved("r", in: "a"), gone("s", in: "a")], end).changes()
        let id = CKRecord.ID(recordName: "r", zoneID: CKRecordZone.ID(zoneName: "a"))
        #expect(Array(changes.modificationResultsByID.keys) == [id])
        #expect(try changes.modificationResultsByID[id]?.get().record.recordChangeTag == "t1")
        #expect(changes.deletions.map(\.recordID.recordName) == ["s"])
        #expect(changes.deletions.map(\.recordType) == ["Thing"])
        #expect(changes.changeToken == CKServerChangeToken(bytes: [1]))
        #expect(changes.moreComing)
    }

    @Test func `a page of a database is modifications, deletions and the token`() throws {
        let page = DatabaseChangesPage(since: nil, limit: nil, scope: .private)
        let items: [ItemOutcome] = [
            .zoneChanged(ZoneID(zoneName: "b")), .zoneChanged(ZoneID(zoneName: "a")),
            .zoneDeleted(ZoneID(zoneName: "c")),
        ]
        let changes = try self.results(of: page, items, End(token: [1])).changes()
        #expect(changes.modifications.map(\.zoneID.zoneName) == ["b", "a"])
        #expect(changes.deletions.map(\.zoneID.zoneName) == ["c"])
        #expect(changes.deletions.map(\.reason) == [.deleted])
        #expect(changes.deletions.map(\.purged) == [false])
        #expect(!changes.moreComing)
    }

    @Test func `an answer without a token is none`() {
        let page = ZoneChangesPage(self.zoneID, since: nil, scope: .private)
        #expect { try self.results(of: page, [], End()).changes() } throws: { code($0) == 1 }
        let zones = DatabaseChangesPage(since: nil, limit: nil, scope: .private)
        #expect { try self.results(of: zones, [], End()).changes() } throws: { code($0) == 1 }
    }

    @Test func `the token for now is asked for by zone or for the database`() throws {
        let zone = CurrentToken(zoneID: self.zoneID, scope: .private)
        #expect(
            try zone.operation(user: "_me")
                == .fetchToken(FetchToken(scope: .private, zone: ZoneID(zoneName: "a", ownerName: "_them")))
        )
        let database = CurrentToken(zoneID: nil, scope: .public)
        #expect(try database.operation(user: "_me") == .fetchToken(FetchToken(scope: .public)))
        #expect(zone.itemCount == nil)
    }

    @Test func `a token comes back from an archive`() throws {
        let token = CKServerChangeToken(bytes: [0, 1, 255])
        let data = try archive(token)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: data)
        #expect(read == token)
        #expect(read?.hash == token.hash)
        #expect(read != CKServerChangeToken(bytes: [0, 1]))
        #expect(token.copy() as? CKServerChangeToken === token)
    }

    @Test(arguments: [(1, true), (1_024, true), (1_025, false), (0, false)])
    func `a token from an archive is of 1 to 1,024 bytes`(count: Int, isRead: Bool) throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        CKServerChangeToken(bytes: Array(repeating: 7, count: count)).encode(with: archiver)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect((CKServerChangeToken(coder: unarchiver) != nil) == isRead)
    }

    @Test(arguments: [nil, [], ["a", "b"]] as [[String]?])
    func `a configuration comes back from an archive and is copied`(keys: [String]?) throws {
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
            previousServerChangeToken: CKServerChangeToken("t"),
            resultsLimit: 7,
            desiredKeys: keys
        )
        let data = try archive(configuration)
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKFetchRecordZoneChangesOperation.ZoneConfiguration.self,
            from: data
        )
        let copy = configuration.copy() as? CKFetchRecordZoneChangesOperation.ZoneConfiguration
        configuration.resultsLimit = 8
        for other in [read, copy] {
            #expect(other?.previousServerChangeToken?.text == "t")
            #expect(other?.resultsLimit == 7)
            #expect(other?.desiredKeys == keys)
        }
    }
}
