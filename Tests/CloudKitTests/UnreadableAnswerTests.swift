import NIOCore
import RecordClient
import RecordModel
import Testing
import WireProtocol

@testable import CloudKit

/// Records of an answer that a broken server has sent.
@Suite struct UnreadableAnswerTests {
    private static let zone = CKRecordZone.ID(zoneName: "z", ownerName: CKCurrentUserDefaultName)

    private static func item(_ index: UInt32, _ name: String) -> Item {
        let record = Record(
            id: CKRecord.ID(recordName: name, zoneID: self.zone).model,
            recordType: "Note",
            changeTag: "1",
            system: SystemFields(
                createdMilliseconds: 1,
                modifiedMilliseconds: 1,
                createdBy: "_me",
                modifiedBy: "_me"
            ),
            body: .empty
        )
        return Item(index: index, outcome: .record(RecordMessage(record)))
    }

    /// A record with an empty ID, and fields that are none.
    private static func broken(_ index: UInt8) throws -> Item {
        let record: [UInt8] = [0x0A, 0, 0x4A, 1, 0x01]
        let item = [0x08, index, 0x2A, UInt8(record.count)] + record
        return try Items(decoding: ByteBuffer(bytes: [0x0A, UInt8(item.count)] + item)).items[0]
    }

    @Test func `a record that can't be read fails the request, not one item in silence`() throws {
        let (tally, results) = try ResultTally.reading(
            [Self.item(0, "a"), try Self.broken(1), Self.item(2, "c")],
            [Self.item(3, "d")],
            of: ZoneChangesPage(Self.zone, since: nil, scope: .private)
        )
        #expect(results.map(\.count) == [1, 0])
        let violation = ClientError.protocolViolation(WireError(.malformed, field: "fields"))
        #expect(tally.judged(.success(End(token: [1]))) == .failure(violation))
        #expect(tally.judged(.failure(.responseLost)) == .failure(.responseLost))
        #expect(CKError(violation).code == .internalError)
    }

    /// A record with a name and a type, and fields that are none.
    private static func damaged(_ index: UInt32, _ name: String) throws -> Item {
        var buffer = ByteBuffer()
        Self.item(index, name).append(toItems: &buffer)
        // The field 9 behind all others of the record, in three messages of fewer than 128 bytes.
        var bytes = Array(buffer.readableBytesView) + [0x4A, 1, 0xFF]
        for offset in [1, index == 0 ? 3 : 5] { bytes[offset] += 3 }
        return try Items(decoding: ByteBuffer(bytes: bytes)).items[0]
    }

    @Test func `a damaged record fails alone, by its name`() throws {
        let page = ZoneChangesPage(Self.zone, since: nil, scope: .private)
        let (tally, results) = try ResultTally.reading(
            [Self.item(0, "a"), try Self.damaged(1, "b"), Self.item(2, "c")],
            of: page
        )
        #expect(results[0].count == 3)
        #expect(tally.failures.map(\.id.recordName) == ["b"])
        let error = try #require(tally.failures.first?.error as? CKError)
        #expect(error.code == .internalError && error.localizedDescription.contains("'b'"))
        #expect(tally.judged(.success(End(token: [1]))) == .success(End(token: [1])))
        // It has not vanished from the server.
        let notes = results[0].compactMap(try #require(page.roles.ledger).note)
        #expect(notes.map(\.name) == ["a", "b", "c"] && notes.allSatisfy { $0.type == "Note" })

        let id = CKRecord.ID(recordName: "b", zoneID: Self.zone)
        let fetch = RecordFetch([id], desiredKeys: nil, scope: .private)
        let fetched = try ResultTally.reading([try Self.damaged(0, "b")], of: fetch)
        #expect(fetched.results[0].count == 1 && fetched.tally.failures.map(\.id) == [id])
        let query = RecordQuery(.query(Query(recordType: "Note"), zone: Self.zone), scope: .private)
        let items = [try Self.damaged(0, "b"), Self.item(1, "c")]
        let found = try ResultTally.reading(items, of: query)
        #expect(found.results[0].count == 2 && found.tally.failures.map(\.id.recordName) == ["b"])
    }

    @Test func `a request whose records can be read ends as the server says`() throws {
        let page = ZoneChangesPage(Self.zone, since: nil, scope: .private)
        let items = [Self.item(0, "a"), Self.item(1, "b")]
        let (tally, results) = try ResultTally.reading(items, of: page)
        #expect(results[0].count == 2)
        #expect(tally.judged(.success(End(token: [1]))) == .success(End(token: [1])))
    }
}
