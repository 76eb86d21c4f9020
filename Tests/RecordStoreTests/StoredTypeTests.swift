import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// Record types in their rows: what reads assemble, and what saves add.
struct StoredTypeTests {
    private static let environment = EnvironmentID(rawValue: 3)
    private let tables = MemoryTables()

    private func type(_ name: String = "Note") throws -> StoredType? {
        try self.tables.type(named: name, in: Self.environment)
    }

    private func add(
        _ fields: [String: FieldDefinition],
        to name: String = "Note",
        isNew: Bool = false
    ) throws {
        try SchemaWriting(environment: Self.environment, rows: self.tables).add(
            fields,
            toType: name,
            isNew: isNew,
            known: self.tables.fields(ofType: name, in: Self.environment)
        )
    }

    private static func field(_ type: FieldType, _ indexes: IndexKinds = []) -> FieldDefinition {
        FieldDefinition(type: type, isEncrypted: false, indexes: indexes)
    }

    @Test
    func `a first save makes a type with system fields, indexes and the default grants`() throws {
        try self.add(["n": Self.field(.int64, .queryable)], isNew: true)
        let type = try #require(try self.type())
        #expect(Set(type.fields.all.keys) == ["___recordID", "___createTime", "___parent", "n"])
        #expect(type.fields.isTypeDefined)
        #expect(type.fields.all.values.allSatisfy { $0.index != nil })
        #expect(Set(type.fields.all.values.map(\.index)).count == 4)
        #expect(type.grants == SchemaRules.defaultGrants.sorted { $0.role < $1.role })
        #expect(type.queryable?.fields["n"]?.isBuilding == false)
    }

    @Test
    func `a field that is there stays as it is, and a new one beside it keeps its index`() throws {
        try self.add(["n": Self.field(.int64, .queryable)], isNew: true)
        let before = try #require(try self.type()?.fields["n"])
        try self.add(["n": Self.field(.string), "blob": Self.field(.bytes)], isNew: true)
        let type = try #require(try self.type())
        #expect(type.fields["n"] == before)
        #expect(type.fields["blob"]?.index == nil)
        #expect(type.fields.all.count == 5)
    }

    @Test
    func `the first searchable field brings the full text of its type`() throws {
        try self.add(["n": Self.field(.int64)], isNew: true)
        #expect(try self.type()?.fields[SystemField.allText.rawValue] == nil)
        try self.add(["title": Self.field(.string, .searchable)])
        let index = try #require(try self.type()?.fields[SystemField.allText.rawValue]?.index)
        try self.add(["text": Self.field(.string, .searchable)])
        #expect(try self.type()?.fields[SystemField.allText.rawValue]?.index == index)
    }

    @Test
    func `types are read together, and one without rows is absent`() throws {
        try self.add(["n": Self.field(.int64)], isNew: true)
        try self.add(["m": Self.field(.double)], to: "Other", isNew: true)
        let types = try self.tables.types(named: ["Other", "Nothing", "Note"], in: Self.environment)
        #expect(types.map { $0?.fields.userFieldCount } == [1, nil, 1])
        #expect(types[0]?.fields["m"] != nil)
        #expect(try self.tables.types(named: ["Note"], in: EnvironmentID(rawValue: 4))[0] == nil)
    }

    @Test
    func `a type that the schema no longer has is no type for queries`() throws {
        _ = try self.tables.insert(RecordTypeRow(environment: Self.environment, name: "Gone"))
        let type = try #require(try self.type("Gone"))
        #expect(type.fields.all.isEmpty && type.grants.isEmpty && type.queryable == nil)
    }

    @Test
    func `an index that is being built is not complete for queries`() throws {
        try self.add(["n": Self.field(.int64, .queryable), "m": Self.field(.int64, .queryable)], isNew: true)
        let index = try #require(try self.type()?.fields["n"]?.index)
        try self.tables.put(IndexBuildRow(index: index, nextRecord: 0))
        let fields = try #require(try self.type()?.queryable?.fields)
        #expect(fields["n"]?.isBuilding == true)
        #expect(fields["m"]?.isBuilding == false)
    }

    @Test
    func `types of the schema are counted without that of user records`() throws {
        let schema = SchemaRows(environment: Self.environment, rows: self.tables)
        #expect(try schema.countOfTypes() == 0)
        try self.add([:], isNew: true)
        try self.add([:], to: UserRecord.type, isNew: true)
        try self.add([:], to: "Other", isNew: true)
        _ = try self.tables.insert(RecordTypeRow(environment: Self.environment, name: "Gone"))
        #expect(try schema.countOfTypes() == 2)
    }

    @Test
    func `the schema of production is frozen, and an environment must be there`() throws {
        for kind in [Environment.development, .production] {
            let number = try self.tables.insert(EnvironmentRow(container: 1, kind: kind))
            let isFrozen = try self.tables.isSchemaFrozen(in: EnvironmentID(rawValue: number))
            #expect(isFrozen == (kind == .production))
        }
        #expect(throws: StorageFailure.unexpected(code: 0)) {
            try self.tables.isSchemaFrozen(in: EnvironmentID(rawValue: 99))
        }
    }
}
