import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

/// What may become of a schema.
struct SchemaRulesTests {
    static let sample: SchemaDocument = {
        let note = RecordTypeDefinition(
            name: "Note",
            fields: [
                FieldDeclaration(.recordID, indexes: .queryable),
                FieldDeclaration(name: "amount", type: .number(preferred: nil)),
                FieldDeclaration(name: "secret", type: .field(.string), isEncrypted: true),
                FieldDeclaration(name: "title", type: .field(.string), indexes: [.queryable, .sortable]),
            ],
            grants: SchemaRules.defaultGrants
        )
        return SchemaDocument(roles: ["editor"], recordTypes: [note])
    }()

    private func changed(_ body: (inout SchemaDocument) -> Void) -> SchemaDocument {
        var document = Self.sample
        body(&document)
        return document.canonical
    }

    private func losses(_ new: SchemaDocument) -> [SchemaLoss] {
        SchemaRules.losses(from: Self.sample, to: new)
    }

    @Test func `types, fields and their types are not lost`() {
        #expect(self.losses(Self.sample).isEmpty)
        #expect(self.losses(SchemaDocument()) == [.recordType("Note")])
        #expect(
            self.losses(self.changed { $0.recordTypes[0].fields.removeLast() })
                == [.field("title", recordType: "Note")]
        )
        let retyped = self.changed {
            $0.recordTypes[0].fields[1].type = .field(.int64)
            $0.recordTypes[0].fields[2].isEncrypted = false
            $0.recordTypes[0].fields[3].type = .field(.stringList)
            $0.recordTypes[0].fields[3].indexes = []
        }
        #expect(
            self.losses(retyped) == [
                .fieldType("amount", recordType: "Note", old: "NUMBER", new: "INT64"),
                .fieldType("secret", recordType: "Note", old: "ENCRYPTED STRING", new: "STRING"),
                .fieldType("title", recordType: "Note", old: "STRING", new: "LIST<STRING>"),
            ]
        )
        #expect(
            self.losses(retyped)[1].description
                == "the field Note.secret would change from ENCRYPTED STRING to STRING"
        )
    }

    @Test func `what is added, indexes, grants and roles may change`() {
        let grown = self.changed {
            $0.roles = ["other"]
            $0.recordTypes[0].grants = []
            $0.recordTypes[0].fields.append(FieldDeclaration(name: "new", type: .field(.assetList)))
            $0.recordTypes[0].fields[0].indexes = []
            $0.recordTypes[0].fields[3].indexes = .searchable
            $0.recordTypes.append(RecordTypeDefinition(name: "Other"))
        }
        #expect(self.losses(grown).isEmpty)
    }

    @Test func `a number can't be pinned once records may hold both kinds, and a pinned one stays`() {
        func pinned(_ preferred: FieldType?) -> SchemaDocument {
            self.changed { $0.recordTypes[0].fields[1].type = .number(preferred: preferred) }
        }
        #expect(self.losses(pinned(nil)).isEmpty)
        #expect(self.losses(pinned(.double)).count == 1)
        #expect(self.losses(pinned(.int64)).count == 1)
        #expect(SchemaRules.losses(from: pinned(.double), to: pinned(nil)).count == 1)
        #expect(SchemaRules.losses(from: pinned(.double), to: pinned(.int64)).count == 1)
        #expect(SchemaRules.losses(from: pinned(.int64), to: pinned(.int64)).isEmpty)
    }

    @Test func `a difference has a line for everything that changes`() {
        let new = self.changed {
            $0.roles = ["author"]
            $0.recordTypes[0].fields[3].indexes = .searchable
            $0.recordTypes[0].fields.remove(at: 2)
            $0.recordTypes[0].fields.append(FieldDeclaration(name: "grant", type: .field(.bytes)))
            $0.recordTypes[0].grants[2].permissions = [.read, .write]
            $0.recordTypes.append(
                RecordTypeDefinition(name: "Other", fields: [FieldDeclaration(.etag, indexes: .queryable)])
            )
        }
        let difference = SchemaDifference(from: Self.sample, to: new)
        #expect(
            difference.description == """
                + CREATE ROLE author
                - CREATE ROLE editor
                ~ RECORD TYPE Note
                    + "grant" BYTES
                    ~ title STRING QUERYABLE SORTABLE -> STRING SEARCHABLE
                    - secret ENCRYPTED STRING
                    ~ GRANT READ -> READ, WRITE TO "_world"
                + RECORD TYPE Other
                    + "___etag" STRING QUERYABLE

                """
        )
        #expect(SchemaDifference(from: Self.sample, to: Self.sample).isEmpty)
        #expect(
            SchemaDifference(from: Self.sample, to: SchemaDocument()).description
                == "- CREATE ROLE editor\n- RECORD TYPE Note\n"
        )
    }

    @Test func `two schemas differ if and only if a line says so`() {
        var generator = SeededGenerator.fromEnvironment()
        print("schema difference: SEED=\(generator.seed)")
        for _ in 0..<200 {
            let old = RandomSchema.document(using: &generator).canonical
            let new = RandomSchema.document(using: &generator).canonical
            #expect(SchemaDifference(from: old, to: new).isEmpty == (old == new))
            #expect(SchemaRules.losses(from: old, to: old).isEmpty)
            let shortfalls = SchemaRules.shortfalls(of: old, comparedWith: new)
            if SchemaRules.losses(from: new, to: old).isEmpty == false { #expect(!shortfalls.isEmpty) }
            #expect(SchemaRules.shortfalls(of: old, comparedWith: old) == [])
        }
    }

    @Test func `user records are in every schema`() throws {
        let plain = SchemaRules.completed(Self.sample, from: SchemaDocument())
        #expect(plain["Users"] == SchemaRules.users)
        let nick = FieldDeclaration(name: "nick", type: .field(.string))
        let named = self.changed {
            $0.recordTypes.append(RecordTypeDefinition(name: "Users", fields: [nick]))
        }
        let completed = SchemaRules.completed(named, from: plain)
        #expect(completed["Users"]?.fields.map(\.name) == ["nick", "roles"])
        #expect(SchemaRules.completed(Self.sample, from: completed) == completed)
        let text = """
                RECORD TYPE Users (
                    "___createTime" TIMESTAMP,
                    "___createdBy"  REFERENCE,
                    "___etag"       STRING,
                    "___modTime"    TIMESTAMP,
                    "___modifiedBy" REFERENCE,
                    "___recordID"   REFERENCE,
                    roles           LIST<INT64>,
                    GRANT WRITE TO "_creator",
                    GRANT READ TO "_world"
                );

            """
        #expect(plain.text.hasSuffix(text))
    }

    @Test func `everything that a program needs and does not find is named at once`() throws {
        let inForce = self.changed {
            $0.recordTypes[0].fields[1].type = .field(.string)
            $0.recordTypes[0].fields.remove(at: 2)
            $0.recordTypes[0].fields[2].indexes = .sortable
            $0.recordTypes[0].fields[0].indexes = []
        }
        let required = self.changed {
            $0.recordTypes.append(RecordTypeDefinition(name: "Other"))
            $0.recordTypes[0].fields.append(
                FieldDeclaration(name: "when", type: .field(.timestamp), indexes: [.queryable, .sortable])
            )
        }
        let shortfalls = SchemaRules.shortfalls(of: inForce, comparedWith: required)
        #expect(
            shortfalls.map(\.description) == [
                "INDEX Note.___recordID QUERYABLE", "FIELD Note.amount NUMBER (it is STRING)",
                "FIELD Note.secret ENCRYPTED STRING", "INDEX Note.title QUERYABLE",
                "FIELD Note.when TIMESTAMP",
                "INDEX Note.when QUERYABLE SORTABLE", "RECORD TYPE Other",
            ]
        )
        #expect(SchemaRules.shortfalls(of: required, comparedWith: inForce) != [])
        #expect(SchemaRules.shortfalls(of: required, comparedWith: Self.sample) == [])
    }
}
