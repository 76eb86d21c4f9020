import RecordModel
import Testing

@testable import tidemark_load

/// Verdicts on readings that are made up.
@Suite
struct ZoneComparisonTests {
    private typealias Found = ZoneComparison.Found

    private static func key(
        _ acknowledged: UInt64,
        uncertain: [UInt64] = [],
        isRetired: Bool = false
    ) -> KeyTable.Key {
        var key = KeyTable.Key()
        key.acknowledged = acknowledged
        key.uncertain = uncertain
        key.isRetired = isRetired
        return key
    }

    private static func kinds(
        _ expected: [String: KeyTable.Key],
        others: [String: KeyTable.Key] = [:],
        _ found: [Found]
    ) -> [Violation.Kind] {
        var violations = Violations()
        ZoneComparison(zone: "zone", expected: expected, others: others)
            .compare(found, reading: "feed", &violations)
        #expect(violations.count == violations.first.count)
        return violations.first.map(\.kind)
    }

    @Test
    func `acknowledged saves are found, and deleted records are not`() {
        let expected = ["a": Self.key(2), "b": Self.key(0)]
        #expect(Self.kinds(expected, [Found(name: "a", version: 2)]) == [])
        let deleted = [Found(name: "b", version: 0), Found(name: "a", version: 2)]
        #expect(Self.kinds(expected, deleted) == [])
    }

    @Test
    func `each fault has its name`() {
        #expect(Self.kinds(["a": Self.key(2)], []) == [.lost])
        #expect(Self.kinds(["a": Self.key(2)], [Found(name: "a", version: 0)]) == [.lost])
        #expect(Self.kinds(["a": Self.key(2)], [Found(name: "a", version: 1)]) == [.stale])
        #expect(Self.kinds(["a": Self.key(2)], [Found(name: "a", version: 3)]) == [.unexpected])
        #expect(Self.kinds(["a": Self.key(0)], [Found(name: "a", version: 1)]) == [.unexpected])
        #expect(Self.kinds([:], [Found(name: "a", version: 1)]) == [.unexpected])
        #expect(Self.kinds(["a": Self.key(2)], [Found(name: "a", version: nil)]) == [.spoilt])
        let twice = [Found(name: "a", version: 2), Found(name: "a", version: 2)]
        #expect(Self.kinds(["a": Self.key(2)], twice) == [.doubled])
    }

    @Test
    func `a write without an answer may be there or not, and come late`() {
        let expected = ["a": Self.key(2, uncertain: [3], isRetired: true)]
        #expect(Self.kinds(expected, [Found(name: "a", version: 2)]) == [])
        #expect(Self.kinds(expected, [Found(name: "a", version: 3)]) == [])
        #expect(Self.kinds(expected, [Found(name: "a", version: 2), Found(name: "a", version: 3)]) == [])
        #expect(Self.kinds(expected, [Found(name: "a", version: 1)]) == [.stale])
        #expect(Self.kinds(expected, []) == [.lost])
    }

    @Test
    func `what need not come may, as it is`() {
        let others = ["b": Self.key(4)]
        #expect(Self.kinds([:], others: others, []) == [])
        #expect(Self.kinds([:], others: others, [Found(name: "b", version: 4)]) == [])
        #expect(Self.kinds([:], others: others, [Found(name: "b", version: 3)]) == [.stale])
    }

    @Test
    func `a record with the contents of another is spoilt`() {
        func record(_ key: UInt32) -> Record {
            Record(
                id: RecordID(zone: ZoneID(zoneName: "zone"), recordName: KeyTable.recordName(5, of: 1)),
                recordType: "LoadItem",
                changeTag: "1",
                system: SystemFields(
                    createdMilliseconds: 0,
                    modifiedMilliseconds: 0,
                    createdBy: "",
                    modifiedBy: ""
                ),
                body: Contents(version: 9, worker: 1, key: key).body(bucket: 1, payloadBytes: 100)
            )
        }
        #expect(Found(record(5)).version == 9)
        #expect(Found(record(6)).version == nil)
    }

    @Test
    func `contents are read back, and half of them are noticed`() {
        let contents = Contents(version: 77, worker: 2, key: 9)
        #expect(Contents(contents.body(bucket: nil, payloadBytes: 500)) == contents)
        #expect(Contents(contents.body(bucket: 3, payloadBytes: Contents.headerBytes)) == contents)
        let other = Contents(version: 78, worker: 2, key: 9).body(bucket: nil, payloadBytes: 500)
        guard case .bytes(let mine)? = contents.body(bucket: nil, payloadBytes: 500).fields.first?.value,
            case .bytes(let theirs)? = other.fields.first?.value
        else {
            Issue.record("no payload")
            return
        }
        let mixed = Field(name: "payload", value: .bytes(Array(mine[..<250] + theirs[250...])))
        #expect(Contents(RecordBody([mixed])) == nil)
        #expect(Contents(RecordBody.empty) == nil)
    }
}
