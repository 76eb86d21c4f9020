import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

struct FieldDefinitionsTests {
    /// Fields of all kinds, in any order, each name once or several times.
    private static func fields(
        using generator: inout SeededGenerator
    ) -> [(key: String, value: FieldDefinition)] {
        (0..<60).map { number in
            let type: FieldType = [.string, .reference, .asset, .int64].randomElement(using: &generator)!
            let hasIndex = Bool.random(using: &generator)
            let definition = FieldDefinition(
                type: type,
                isEncrypted: false,
                indexes: type == .string && hasIndex ? [.queryable, .searchable] : .queryable,
                index: hasIndex ? Int64(number) : nil
            )
            return (
                ["a", "A", "z", "f_", "f9"].randomElement(using: &generator)! + "\(number % 40)", definition
            )
        }
    }

    @Test func `fields that come together are those that come one by one, whatever their order`() {
        var generator = SeededGenerator.fromEnvironment()
        print("field definitions: SEED=\(generator.seed)")
        for _ in 0..<50 {
            let fields = Self.fields(using: &generator)
            var together = FieldDefinitions()
            together.define(fields)
            var oneByOne = FieldDefinitions()
            for (name, definition) in fields { oneByOne.define(definition, field: name) }
            #expect(together == oneByOne)
            let cut = Int.random(in: 0...fields.count, using: &generator)
            var inParts = FieldDefinitions()
            inParts.define(fields[..<cut])
            inParts.define(fields[cut...])
            #expect(inParts == together)
            #expect(Set(together.all.keys) == Set(fields.map(\.key)))
            for (name, definition) in fields
            where fields.first(where: { $0.key == name })!.value == definition {
                #expect(together[name] == definition)
            }
        }
    }

    @Test func `a value of each indexed field is found, in whatever order the fields were defined`() {
        var generator = SeededGenerator(seed: 7)
        let names = (0..<1_000).map { "f\($0)" }.shuffled(using: &generator)
        var definitions = FieldDefinitions()
        for (number, name) in names.enumerated() {
            let index = Int64(number)
            definitions.define(FieldDefinition(type: .int64, isEncrypted: false, index: index), field: name)
        }
        let record = StoredRecord(
            number: 1,
            recordType: "T",
            position: 1,
            system: SystemFields(
                createdMilliseconds: 0,
                modifiedMilliseconds: 0,
                createdBy: "",
                modifiedBy: ""
            ),
            parent: nil,
            body: RecordBody(names.map { Field(name: $0, value: .int64(1)) })
        )
        let changes = IndexChanges(from: nil, to: record, named: "r", definitions: definitions)
        #expect(Set(changes.added.map(\.index)) == Set(0..<1_000))
    }
}
