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
        let page = ZoneChangesPage(Self.zone, since: nil, scope: .private)
        let tally = AnswerTally(page)
        let answers = tally.read(
            [Self.item(0, "a"), try Self.broken(1), Self.item(2, "c")],
            user: "_me"
        )
        #expect(answers.count == 1)
        #expect(tally.read([Self.item(3, "d")], user: "_me").isEmpty)
        let violation = ClientError.protocolViolation(WireError(.malformed, field: "fields"))
        #expect(tally.judged(.success(End(token: [1]))) == .failure(violation))
        #expect(tally.judged(.failure(.responseLost)) == .failure(.responseLost))
        #expect(CKError(violation).code == .internalError)
    }

    @Test func `a request whose records can be read ends as the server says`() throws {
        let tally = AnswerTally(ZoneChangesPage(Self.zone, since: nil, scope: .private))
        #expect(tally.read([Self.item(0, "a"), Self.item(1, "b")], user: "_me").count == 2)
        #expect(tally.judged(.success(End(token: [1]))) == .success(End(token: [1])))
    }
}
