import CloudKit
import Foundation
import Testing

struct `Published code about values` {
    @Test func `reads back what it wrote through a record`() throws {
        let record = Note(text: "x").record(in: CKRecordZone.ID(zoneName: "Notes"))
        let note = try #require(Note(record))
        #expect(note.text == "x")
        #expect(note.isPinned)
        #expect(note.score == 4.5)
        #expect(note.tags == ["a", "b"])
        #expect(note.image == Data([1, 2, 3]))
        #expect(note.place?.coordinate.latitude == 47.4)
        #expect(note.created.timeIntervalSinceReferenceDate == 700_000_000.25)
        #expect(!record.recordID.isTemporary)
        #expect(RecordIdioms.generic(record, "stars", as: Int.self) == 3)
    }

    @Test func `uses both subscripts`() {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        let results = RecordIdioms.subscripts(record, optionalText: "o", any: 5)
        #expect(results.count == 8)
        #expect(results[0] as? Int == 5)
        #expect(results[2] as? String == "text")
        #expect(results[4] as? String == "text")
        #expect(record["any"] as? Int == 5)
        #expect(record["either"] as? String == "b")
        #expect((results[7] as? [CKRecord.Reference])?.first?.recordID.recordName == "n")
    }

    @Test func `uses methods, encrypted values and iteration`() {
        let record = CKRecord(recordType: "Note")
        let results = RecordIdioms.methods(
            record,
            other: CKRecord(recordType: "Note", recordID: .init(recordName: "p"))
        )
        #expect(results[0] as? String == "x")
        #expect(results[1] as? Int == 7)
        #expect(results[4] as? String == "s")
        #expect(results[6] as? [String] == ["secret", "secretNumber"])
        #expect(results[14] as? String == "p")
    }

    @Test func `makes identifiers and knows names`() {
        #expect(RecordIdioms.identifiers().count == 14)
        #expect(RecordIdioms.names().contains("___modTime"))
    }

    @Test func `archives system fields and reads them`() throws {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        #expect(try RecordIdioms.archiving(record)?.recordID == record.recordID)
    }

    @Test func `sends records between tasks`() async {
        let record = CKRecord(recordType: "Note")
        #expect(await RecordIdioms.concurrently(record) === record)
        #expect(await RecordIdioms.cache[record.recordID] === record)
    }

    @Test func `catches errors by code`() {
        #expect(ErrorIdioms.caught(CKError(.zoneNotFound)) == "zone")
        #expect(ErrorIdioms.caught(CKError(.partialFailure)) == "partial 0")
        #expect(ErrorIdioms.caught(NSError(domain: CKErrorDomain, code: 26)) == "zone")
        #expect(ErrorIdioms.caught(NSError(domain: CKErrorDomain, code: 3)) == "network")
        #expect(ErrorIdioms.caught(NSError(domain: "other", code: 26)) == "other")
        #expect(
            ErrorIdioms.made().map(ErrorIdioms.named) == [
                "network", "missing", "again after 3.0", "again after 2.5", "again after 0.0",
            ]
        )
    }

    @Test func `bridges errors to NSError and back`() {
        let all = ["raw", "cast", "pattern", "code", "number"]
        #expect(ErrorIdioms.bridged(CKError(.changeTokenExpired)) == all)
        #expect(ErrorIdioms.bridged(NSError(domain: CKErrorDomain, code: 21)) == all)
    }

    @Test func `finds the errors of items`() {
        let id = CKRecord.ID(recordName: "a")
        let error = CKError.partialFailure([id: CKError(.serverRecordChanged)], message: "")
        #expect(
            ErrorIdioms.partial(error, id) == [
                "accessor", "user info", "record IDs", "NSError", "NSDictionary",
            ]
        )
    }
}
