import RecordModel
import RecordStore
import StorageContract
import Testing

struct SaveRulesTests {
    private static let id = RecordID(zone: .default, recordName: "a")
    private static let existing = StoredRecord(
        number: 1,
        recordType: "Note",
        position: 36,
        system: SystemFields(createdMilliseconds: 1, modifiedMilliseconds: 2, createdBy: "", modifiedBy: ""),
        parent: nil,
        body: .empty
    )

    private static func verdict(
        tag: String?,
        _ policy: ModifyRecords.Policy,
        _ existing: StoredRecord?
    ) throws(StoreError) -> SaveRules.Verdict {
        let save = RecordSave(id: self.id, recordType: "Note", changeTag: tag, changes: .empty)
        return try SaveRules.verdict(on: save, policy: policy, existing: existing)
    }

    @Test
    func `with the tag compared each row of the table has its outcome`() throws {
        let record = Self.existing.record(id: Self.id)
        let policy = ModifyRecords.Policy.ifServerRecordUnchanged
        #expect(try Self.verdict(tag: nil, policy, nil) == .create)
        #expect(throws: StoreError.recordExists(record)) { try Self.verdict(tag: nil, policy, Self.existing) }
        #expect(try Self.verdict(tag: "10", policy, Self.existing) == .update)
        #expect(throws: StoreError.changeTagStale(record)) {
            try Self.verdict(tag: "z", policy, Self.existing)
        }
        #expect(throws: StoreError.recordMissing) { try Self.verdict(tag: "10", policy, nil) }
    }

    @Test(arguments: [ModifyRecords.Policy.changedKeys, .allKeys], [nil, "10", "z"])
    func `the other policies do not look at the tag`(policy: ModifyRecords.Policy, tag: String?) throws {
        #expect(try Self.verdict(tag: tag, policy, nil) == .create)
        #expect(try Self.verdict(tag: tag, policy, Self.existing) == .update)
    }
}
