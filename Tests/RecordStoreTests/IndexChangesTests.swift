import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

/// What a change of a record does to the indexes of its type.
struct IndexChangesTests {
    private static let recordID: Int64 = 100
    private static let parent: Int64 = 101
    private static let modTime: Int64 = 102
    private static let createdBy: Int64 = 103
    private static let allText: Int64 = 104

    /// Fields with numbers in their order; strings are searchable, except that of `code`.
    private static func definitions(
        _ fields: [(String, FieldType)],
        system: [SystemField: Int64] = [:]
    ) -> FieldDefinitions {
        var definitions = FieldDefinitions()
        for (field, index) in system {
            definitions.define(
                FieldDefinition(type: field.type, isEncrypted: false, index: index),
                field: field.rawValue
            )
        }
        for (number, (name, type)) in fields.enumerated() {
            let isSearchable = name != "code" && (type == .string || type == .stringList)
            let definition = FieldDefinition(
                type: type,
                isEncrypted: false,
                indexes: isSearchable ? [.queryable, .searchable] : .queryable,
                index: Int64(number)
            )
            definitions.define(definition, field: name)
        }
        return definitions
    }

    private static func record(
        _ fields: [String: FieldValue] = [:],
        parent: String? = nil,
        modified: Int64 = 0,
        by user: String = ""
    ) -> StoredRecord {
        StoredRecord(
            number: 1,
            recordType: "T",
            position: 1,
            system: SystemFields(
                createdMilliseconds: 0,
                modifiedMilliseconds: modified,
                createdBy: user,
                modifiedBy: user
            ),
            parent: parent,
            body: RecordBody(fields.map { Field(name: $0.key, value: $0.value) })
        )
    }

    private func check(
        _ old: StoredRecord?,
        _ new: StoredRecord?,
        _ definitions: FieldDefinitions,
        removes removed: [IndexEntry] = [],
        adds added: [IndexEntry] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let changes = IndexChanges(from: old, to: new, named: "r", definitions: definitions)
        #expect(Set(changes.removed) == Set(removed), sourceLocation: sourceLocation)
        #expect(Set(changes.added) == Set(added), sourceLocation: sourceLocation)
        #expect(changes.removed.count == removed.count, sourceLocation: sourceLocation)
        #expect(changes.added.count == added.count, sourceLocation: sourceLocation)
    }

    private func entry(_ index: Int64, _ value: FieldValue) -> IndexEntry {
        IndexEntry(index: index, value: IndexValue.entries(of: value)[0])
    }

    private func word(_ text: String) -> IndexEntry {
        IndexEntry(index: Self.allText, value: Array(text.utf8))
    }

    @Test
    func `a new record adds its values, one that goes removes them`() {
        let definitions = Self.definitions([("a", .int64), ("c", .double)])
        // "b" and "d" are not indexed, "c" is absent.
        let record = Self.record(["a": .int64(7), "b": .int64(8), "d": .string("x")])
        self.check(nil, record, definitions, adds: [self.entry(0, .int64(7))])
        self.check(record, nil, definitions, removes: [self.entry(0, .int64(7))])
    }

    @Test
    func `only fields whose value differs are touched`() {
        let definitions = Self.definitions([("a", .int64), ("b", .double), ("c", .bytes), ("d", .timestamp)])
        let old = Self.record(["a": .int64(1), "b": .double(2), "c": .bytes([3])])
        let new = Self.record(["a": .int64(1), "b": .double(4), "d": .timestamp(5)])
        self.check(
            old,
            new,
            definitions,
            removes: [self.entry(1, .double(2)), self.entry(2, .bytes([3]))],
            adds: [self.entry(1, .double(4)), self.entry(3, .timestamp(5))]
        )
        self.check(old, old, definitions)
    }

    @Test
    func `in a wide type as in a narrow one the fields of both records are compared, and no others`() {
        var generator = SeededGenerator.fromEnvironment()
        print("index changes: SEED=\(generator.seed)")
        for _ in 0..<200 {
            let width = [1, 3, 20, 300].randomElement(using: &generator)!
            let names = (0..<width).map { "f\($0)" } + ["A", "zz"]
            let definitions = Self.definitions(names.map { ($0, .string) }, system: [.allText: Self.allText])
            func texts() -> [String: String] {
                let count = Int.random(in: 0...min(width, 6), using: &generator)
                let chosen = (names + ["none", "f0x"]).shuffled(using: &generator).prefix(count)
                return Dictionary(
                    uniqueKeysWithValues: chosen.map { ($0, "w\(Int.random(in: 0..<3, using: &generator))") }
                )
            }
            let (old, new) = (texts(), texts())
            func entries(_ texts: [String: String], without others: [String: String]) -> [IndexEntry] {
                let indexed = texts.filter { names.contains($0.key) }
                let words = Set(indexed.values)
                    .subtracting(others.filter { names.contains($0.key) }.values)
                return indexed.filter { others[$0.key] != $0.value }
                    .map { self.entry(Int64(names.firstIndex(of: $0.key)!), .string($0.value)) }
                    + words.map { self.word($0) }
            }
            self.check(
                Self.record(old.mapValues { .string($0) }),
                Self.record(new.mapValues { .string($0) }),
                definitions,
                removes: entries(old, without: new),
                adds: entries(new, without: old)
            )
        }
    }

    @Test
    func `values with the same bytes in an index change nothing`() {
        let definitions = Self.definitions([("a", .double), ("code", .string), ("l", .doubleList)])
        let long = String(repeating: "x", count: 1_000)
        let old = Self.record(["a": .double(0), "code": .string(long), "l": .doubleList([1, 2])])
        let new = Self.record(["a": .double(-0.0), "code": .string(long + "y"), "l": .doubleList([2, 1, 2])])
        self.check(old, new, definitions)
    }

    @Test
    func `a list adds and removes elements, also when it becomes empty`() {
        let definitions = Self.definitions([("l", .int64List)])
        let old = Self.record(["l": .int64List([1, 2, 2])])
        self.check(
            old,
            Self.record(["l": .int64List([2, 3])]),
            definitions,
            removes: [self.entry(0, .int64(1))],
            adds: [self.entry(0, .int64(3))]
        )
        let both = [self.entry(0, .int64(1)), self.entry(0, .int64(2))]
        self.check(old, Self.record(["l": .emptyList]), definitions, removes: both)
        self.check(Self.record(["l": .emptyList]), old, definitions, adds: both)
        self.check(Self.record(["l": .emptyList]), Self.record(), definitions)
    }

    @Test
    func `a word stays as long as one searchable field has it`() {
        let definitions = Self.definitions(
            [("a", .string), ("b", .stringList), ("code", .string)],
            system: [.allText: Self.allText]
        )
        let old = Self.record([
            "a": .string("One two"), "b": .stringList(["TWO three"]), "code": .string("unsaid"),
        ])
        self.check(
            old,
            Self.record(["a": .string("one"), "b": .stringList(["TWO three"]), "code": .string("unsaid")]),
            definitions,
            removes: [self.entry(0, .string("One two"))],
            adds: [self.entry(0, .string("one"))]
        )
        self.check(
            old,
            Self.record(["a": .string("One two"), "code": .string("said")]),
            definitions,
            removes: [
                self.entry(1, .string("TWO three")), self.word("three"), self.entry(2, .string("unsaid")),
            ],
            adds: [self.entry(2, .string("said"))]
        )
    }

    @Test
    func `system fields have entries where they have an index`() {
        let definitions = Self.definitions(
            [],
            system: [
                .recordID: Self.recordID, .parent: Self.parent, .modTime: Self.modTime,
                .createdBy: Self.createdBy,
            ]
        )
        func time(_ milliseconds: Int64) -> IndexEntry {
            IndexEntry(index: Self.modTime, value: IndexValue.time(milliseconds: milliseconds))
        }
        func name(_ index: Int64, _ name: String) -> IndexEntry {
            IndexEntry(index: index, value: Array(name.utf8))
        }
        let old = Self.record(parent: "p", by: "u")
        self.check(
            nil,
            old,
            definitions,
            adds: [name(Self.recordID, "r"), name(Self.parent, "p"), time(0), name(Self.createdBy, "u")]
        )
        self.check(
            old,
            Self.record(parent: "q", modified: 1, by: "u"),
            definitions,
            removes: [name(Self.parent, "p"), time(0)],
            adds: [name(Self.parent, "q"), time(1)]
        )
        // Nobody was signed in: there is no author to find.
        self.check(nil, Self.record(), definitions, adds: [name(Self.recordID, "r"), time(0)])
    }
}
