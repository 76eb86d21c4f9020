import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

@Suite(.timeLimit(.minutes(10)))
struct RecordReaderTests {
    private static let names = ["r0", "none", "r1", "r2", "r3"]

    /// How many elements are read with each bound on the bytes of bodies.
    private static func counts(
        _ reader: any RecordReader,
        _ database: DatabaseID,
        _ bounds: [Int]
    ) throws(StorageFailure) -> [Int] {
        guard let zone = try reader.zone(named: "notes", in: database) else { return [] }
        var counts: [Int] = []
        for bound in bounds {
            counts.append(try reader.records(named: self.names[...], in: zone, bytesMax: bound).count)
        }
        return counts
    }

    @Test(arguments: EngineKind.allCases)
    func `a read by name ends with the record that takes it beyond its bytes`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        #expect(try await it.modify((0..<4).map { save("r\($0)", ["n": .int64(1)]) }).areSaved)
        let size = try #require(try await it.record(id("r0"))).body.bytes.count
        let (database, bounds) = (it.privately.database, [0, size - 1, size, 2 * size, .max])
        let expected = [1, 1, 3, 4, 5]
        let read = try await it.snapshot { (snapshot) throws(StorageFailure) in
            try Self.counts(snapshot, database, bounds)
        }
        #expect(read == expected)
        let written = try it.store.engine.administer { try Self.counts($0, database, bounds) }
        #expect(written == expected)
    }
}
