import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

/// The CloudKit Schema Language: what is accepted, and how it is printed.
struct SchemaLanguageTests {
    private static let export = """
        DEFINE SCHEMA

            CREATE ROLE editor;

            RECORD TYPE Note (
                "___createTime" TIMESTAMP,
                "___createdBy"  REFERENCE,
                "___etag"       STRING,
                "___modTime"    TIMESTAMP,
                "___modifiedBy" REFERENCE,
                "___recordID"   REFERENCE QUERYABLE,
                count           NUMBER PREFERRED AS INT64 QUERYABLE SORTABLE,
                "grant"         BYTES,
                secret          ENCRYPTED STRING,
                secrets         LIST<ENCRYPTED INT64>,
                tags            LIST<STRING> QUERYABLE SEARCHABLE,
                thumbnail       ASSET,
                title           STRING QUERYABLE SEARCHABLE SORTABLE,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world",
                GRANT READ, CREATE, WRITE TO editor
            );

        """

    @Test func `what CloudKit exports is read and printed again as it was`() throws {
        let document = try SchemaParser.parse(Self.export)
        #expect(document.text == Self.export)
        #expect(document.roles == ["editor"])
        let note = try #require(document["Note"])
        #expect(note["___recordID"] == FieldDeclaration(.recordID, indexes: .queryable))
        #expect(note["___etag"] == nil)
        #expect(note["count"]?.type == .number(preferred: .int64))
        #expect(
            note["secrets"] == FieldDeclaration(name: "secrets", type: .field(.int64List), isEncrypted: true)
        )
        #expect(note["title"]?.indexes == [.queryable, .sortable, .searchable])
        #expect(note["thumbnail"]?.type == .field(.asset))
        #expect(note.grants.last == Grant(role: "editor", permissions: [.create, .read, .write]))
    }

    @Test func `what CloudKit exports of an app that shares keeps its names with a dot`() throws {
        let export = """
            DEFINE SCHEMA

                RECORD TYPE "cloudkit.share" (
                    "___createTime"               TIMESTAMP,
                    "___createdBy"                REFERENCE,
                    "___etag"                     STRING,
                    "___modTime"                  TIMESTAMP,
                    "___modifiedBy"               REFERENCE,
                    "___recordID"                 REFERENCE,
                    "cloudkit.thumbnailImageData" BYTES,
                    "cloudkit.title"              STRING,
                    "cloudkit.type"               STRING,
                    GRANT WRITE TO "_creator",
                    GRANT CREATE TO "_icloud",
                    GRANT READ TO "_world"
                );

            """
        let document = try SchemaParser.parse(export)
        #expect(document.text == export)
        // Shares need no schema, so an app whose schema has theirs lacks nothing without it.
        #expect(SchemaRules.shortfalls(of: SchemaDocument(), comparedWith: document).isEmpty)
        for name in ["app.title", "cloudkit.a.b", "cloudkit."] {
            #expect(throws: SchemaError.self, "\(name)") {
                try SchemaParser.parse("DEFINE SCHEMA RECORD TYPE Note (\"\(name)\" STRING);")
            }
        }
    }

    @Test func `case, order, comments and spaces say nothing`() throws {
        let sloppy = """
            \u{FEFF}define -- a comment ; (
            Schema // another "
            record type Note(title string sortable SEARCHABLE Queryable,
            /* the rest
               of it **/ "secrets" list < encrypted int64 >,"grant" bytes, secret ENCRYPTED string,
            \ttags List<string>searchable queryable, thumbnail Asset,count number preferred as int64 sortable\r
            queryable, "___recordID" reference queryable, grant create to editor, grant write, read to "editor",
            grant read to "_world",grant create to "_icloud",grant write to "_creator", "___etag" string)
            ;create role editor;--
            """
        let document = try SchemaParser.parse(sloppy)
        #expect(document.text == Self.export)
    }

    @Test func `an empty schema is a schema`() throws {
        #expect(try SchemaParser.parse("DEFINE SCHEMA") == SchemaDocument())
        #expect(SchemaDocument().text == "DEFINE SCHEMA\n")
    }

    @Test(arguments: [
        "string", "list", "record", "type", "read", "to", "as", "define", "encrypted", "Grants", "a", "Z_9",
    ])
    func `keywords that are not reserved are names without quotes`(name: String) throws {
        let document = try SchemaParser.parse("DEFINE SCHEMA RECORD TYPE \(name) (\(name) STRING);")
        #expect(document[name]?.fields.map(\.name) == [name])
        #expect(document.text.contains("RECORD TYPE \(name) ("))
        #expect(try SchemaParser.parse(document.text) == document)
    }

    @Test(arguments: ["grant", "GRANT", "Preferred", "queryable", "sortable", "SEARCHABLE"])
    func `reserved words are names within quotes`(name: String) throws {
        let document = try SchemaParser.parse("DEFINE SCHEMA RECORD TYPE \"\(name)\" (\"\(name)\" STRING);")
        #expect(document[name]?.fields.map(\.name) == [name])
        #expect(try SchemaParser.parse(document.text) == document)
    }

    @Test func `export, import, export is the identity`() throws {
        var generator = SeededGenerator.fromEnvironment()
        print("schema language: SEED=\(generator.seed)")
        for _ in 0..<500 {
            let document = RandomSchema.document(using: &generator)
            let text = document.text
            let read = try SchemaParser.parse(text)
            #expect(read == document.canonical)
            #expect(read.text == text)
            #expect(SchemaDifference(from: document, to: read).isEmpty)
        }
    }
}
