import RecordModel
import RecordStore
import TestSupport
import Testing

/// The rows of the table in `Protocol/README.md`, section 5.2.
@Suite(.timeLimit(.minutes(1)))
struct SaveTableTests {
    let it: EngineUnderTest

    init() async throws {
        self.it = try EngineUnderTest(.sqlite)
        #expect(try await self.it.modifyZones(["notes"]).count == 1)
    }

    @Test
    func `a new record is created and read back with what the server knows about it`() async throws {
        let outcomes = try await self.it.modify([save("a", ["title": .string("one")])])
        let record = try #require(try await self.it.record(id("a")))
        #expect(outcomes == [.recordSaved(changeTag: record.changeTag, system: record.system)])
        #expect(record["title"] == .string("one"))
        #expect(record.recordType == "Note")
        #expect(record.system.createdBy == EngineUnderTest.alice)
        #expect(record.system.modifiedBy == EngineUnderTest.alice)
        #expect(record.system.createdMilliseconds == self.it.clock.milliseconds)
    }
}
