import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// Changes of schemas over rows in memory.
struct SchemaRowsTests {
    private let rows = MemoryTables()
    private let environment = EnvironmentID(rawValue: 7)
    private var schema: SchemaRows { SchemaRows(environment: self.environment, rows: self.rows) }

    private func write(_ types: [RecordTypeDefinition], roles: [String] = []) throws {
        let document = SchemaDocument(roles: roles, recordTypes: types)
        try SchemaWriting(environment: self.environment, rows: self.rows).write(
            SchemaRules.completed(document, from: SchemaDocument())
        )
    }

    private func note(_ indexes: IndexKinds) -> RecordTypeDefinition {
        RecordTypeDefinition(
            name: "Note",
            fields: [FieldDeclaration(name: "title", type: .field(.string), indexes: indexes)],
            grants: SchemaRules.defaultGrants
        )
    }

    private func fields() throws -> [String: FieldRow] {
        try self.schema.fields(ofType: try #require(try self.schema.typeNumber("Note")))
    }

    @Test func `what was written is read again`() throws {
        try self.write([self.note([.queryable, .searchable])], roles: ["editor", "reader"])
        let document = try self.schema.document()
        #expect(document.roles == ["editor", "reader"])
        #expect(document["Note"]?["title"]?.indexes == [.queryable, .searchable])
        #expect(document["Note"]?.grants.count == 3)
        #expect(document[UserRecord.type] != nil)
        #expect(try self.fields()[SystemField.allText.rawValue]?.index != nil)
    }

    @Test func `an index on a field that records have is built, and one that nobody wants is removed`() throws
    {
        try self.write([self.note([])])
        let ids = try #require(try self.fields()[SystemField.recordID.rawValue]?.index)
        #expect(try self.fields()["title"]?.index == nil)
        #expect(try self.rows.count(RowRange(IndexBuildRow.byKey)) == 0)
        self.rows.indexesWithEntries = [ids]
        #expect(try self.schema.hasRecords(ofType: "Note"))

        try self.write([self.note([.queryable])])
        let index = try #require(try self.fields()["title"]?.index)
        #expect(try self.rows.rows(RowRange(IndexBuildRow.byKey)).map(\.index) == [index])
        try self.write([self.note([])])
        #expect(try self.rows.count(RowRange(IndexBuildRow.byKey)) == 0)
        #expect(try self.rows.rows(RowRange(IndexRemovalRow.byKey)).map(\.index) == [index])
        #expect(try self.fields()[SystemField.recordID.rawValue]?.index == ids)
    }

    @Test func `a type that goes leaves its number, and a role that goes leaves its users`() throws {
        try self.write([self.note([])], roles: ["editor"])
        let number = try self.schema.typeNumber("Note")
        let role = try #require(try self.schema.roles().first)
        try self.rows.put(UserRoleRow(user: UserNumber(rawValue: 1), role: role.number))
        try self.write([])
        #expect(try self.schema.document()["Note"] == nil)
        #expect(try self.schema.typeNumber("Note") == number)
        #expect(try self.fields().isEmpty)
        #expect(try self.rows.count(RowRange(UserRoleRow.byKey)) == 0)
    }

    @Test func `a schema that is removed frees its names`() throws {
        try self.write([self.note([.queryable])], roles: ["editor"])
        try SchemaWriting(environment: self.environment, rows: self.rows).removeAll()
        #expect(try self.schema.typeNumber("Note") == nil)
        #expect(try self.schema.roles().isEmpty)
        #expect(try self.rows.count(RowRange(FieldRow.byKey)) == 0)
        #expect(try self.rows.count(RowRange(TypeGrantRow.byKey)) == 0)
    }
}
