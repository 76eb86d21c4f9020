import RecordModel
import TestSupport
import Testing

/// Merging and cutting against a dictionary that does the same the plain way.
@Suite struct MergeModelTests {
    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `merging and keeping do what a dictionary does`(seed: UInt64) throws {
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        var model: [String: Field] = [:]
        var body = RecordBody.empty
        for _ in 0..<200 {
            let changes = Self.changes(using: &generator)
            for change in changes {
                model[change.name] = change.value == .clear ? nil : change
            }
            body = body.merging(RecordBody(changes))
            let expected = model.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            try #require(body.fields == expected, "seed \(seed)")
            try #require(try RecordBody(checking: body.bytes, allowsClear: false) == body, "seed \(seed)")
            let keys = Set((0..<4).map { _ in Self.name(using: &generator) })
            try #require(
                body.keeping(keys).fields == expected.filter { keys.contains($0.name) },
                "seed \(seed)"
            )
        }
    }

    @Test func `keeping nothing leaves nothing, and merging nothing changes nothing`() {
        let body = RecordBody([Field(name: "a", value: .int64(1))])
        #expect(body.keeping([]) == .empty)
        #expect(body.merging(.empty) == body)
        #expect(RecordBody.empty.merging(body) == body)
        #expect(RecordBody.empty.merging(RecordBody([Field(name: "a", value: .clear)])) == .empty)
    }

    private static func changes(using generator: inout SeededGenerator) -> [Field] {
        let names = Set(
            (0..<Int.random(in: 0...6, using: &generator)).map { _ in self.name(using: &generator) }
        )
        return names.sorted().map { name in
            let isClear = Int.random(in: 0..<3, using: &generator) == 0
            return Field(
                name: name,
                value: isClear ? .clear : .random(using: &generator),
                isEncrypted: Bool.random(using: &generator)
            )
        }
    }

    /// Names of which some begin as others do.
    private static func name(using generator: inout SeededGenerator) -> String {
        ["a", "a1", "aa", "aB", "b", "B", "ab_", "z", "z9", "Z"].randomElement(using: &generator) ?? "a"
    }
}
