import RecordModel
import RecordStore
import Testing

/// Every kind of error in a schema, with its line and column.
struct SchemaErrorTests {
    private func error(_ text: String) -> SchemaError? {
        do throws(SchemaError) {
            _ = try SchemaParser.parse(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("", "the end of the text", 1, 1, "DEFINE"),
        ("\n\n  CREATE", "\"CREATE\"", 3, 3, "DEFINE"),
        ("DEFINE TABLE", "\"TABLE\"", 1, 8, "SCHEMA"),
        ("DEFINE SCHEMA DROP", "\"DROP\"", 1, 15, "CREATE, RECORD, the end"),
        ("DEFINE SCHEMA\nCREATE TYPE", "\"TYPE\"", 2, 8, "ROLE"),
        ("DEFINE SCHEMA CREATE ROLE r", "the end of the text", 1, 28, "\";\""),
        ("DEFINE SCHEMA RECORD Note", "\"Note\"", 1, 22, "TYPE"),
        ("DEFINE SCHEMA RECORD TYPE T f", "\"f\"", 1, 29, "\"(\""),
        ("DEFINE SCHEMA RECORD TYPE T (f STRING", "the end of the text", 1, 38, nil),
        (
            "DEFINE SCHEMA RECORD TYPE T (f STRING g", "\"g\"", 1, 39,
            "QUERYABLE, SEARCHABLE, SORTABLE, \",\", \")\""
        ),
        (
            "DEFINE SCHEMA RECORD TYPE T (f TEXT)", "\"TEXT\"", 1, 32,
            "ASSET, BYTES, DOUBLE, ENCRYPTED, INT64, LIST, LOCATION, NUMBER, REFERENCE, STRING, TIMESTAMP"
        ),
        (
            "DEFINE SCHEMA RECORD TYPE T (f \"STRING\")", "\"\"STRING\"\"", 1, 32,
            "ASSET, BYTES, DOUBLE, ENCRYPTED, INT64, LIST, LOCATION, NUMBER, REFERENCE, STRING, TIMESTAMP"
        ),
        (
            "DEFINE SCHEMA RECORD TYPE T (f ENCRYPTED REFERENCE)", "\"REFERENCE\"", 1, 42,
            "BYTES, DOUBLE, INT64, LOCATION, STRING, TIMESTAMP"
        ),
        ("DEFINE SCHEMA RECORD TYPE T (f LIST STRING)", "\"STRING\"", 1, 37, "\"<\""),
        (
            "DEFINE SCHEMA RECORD TYPE T (f LIST<NUMBER>)", "\"NUMBER\"", 1, 37,
            "ASSET, BYTES, DOUBLE, ENCRYPTED, INT64, LOCATION, REFERENCE, STRING, TIMESTAMP"
        ),
        ("DEFINE SCHEMA RECORD TYPE T (f LIST<STRING)", "\")\"", 1, 43, "\">\""),
        ("DEFINE SCHEMA RECORD TYPE T (f NUMBER PREFERRED INT64)", "\"INT64\"", 1, 49, "AS"),
        ("DEFINE SCHEMA RECORD TYPE T (f NUMBER PREFERRED AS STRING)", "\"STRING\"", 1, 52, "DOUBLE, INT64"),
        ("DEFINE SCHEMA RECORD TYPE T (f STRING,)", "\")\"", 1, 39, nil),
        ("DEFINE SCHEMA RECORD TYPE T ()", "\")\"", 1, 30, nil),
        ("DEFINE SCHEMA RECORD TYPE T (sortable STRING)", "\"sortable\"", 1, 30, nil),
        ("DEFINE SCHEMA RECORD TYPE T (9f STRING)", "\"9f\"", 1, 30, nil),
        ("DEFINE SCHEMA RECORD TYPE T (GRANT ALL TO r)", "\"ALL\"", 1, 36, "READ, CREATE, WRITE"),
        ("DEFINE SCHEMA RECORD TYPE T (GRANT READ, TO r)", "\"TO\"", 1, 42, "READ, CREATE, WRITE"),
        ("DEFINE SCHEMA RECORD TYPE T (GRANT READ _world)", "\"_world\"", 1, 41, "TO"),
        ("DEFINE SCHEMA RECORD TYPE T (GRANT READ TO _world)", "\"_world\"", 1, 44, nil),
        ("DEFINE SCHEMA\r\n\t/* ü */ é", "\"é\"", 2, 10, "a name, a keyword, a mark"),
        ("DEFINE SCHEMA 🇩🇪", "\"🇩\"", 1, 15, "a name, a keyword, a mark"),
        ("DEFINE - SCHEMA", "\"-\"", 1, 8, "a name, a keyword, a mark"),
    ])
    func `what is not the grammar's is named with what was expected`(
        text: String,
        found: String,
        line: Int,
        column: Int,
        expected: String?
    ) throws {
        let error = try #require(self.error(text))
        #expect(error.position == SchemaPosition(line: line, column: column))
        let start = "Encountered \(found) at line \(line), column \(column). Was expecting: "
        #expect(error.description.hasPrefix(start), "\(error)")
        if let expected { #expect(error.description == start + expected) }
    }

    private static func type(_ items: String) -> String { "DEFINE SCHEMA\nRECORD TYPE T (\(items));" }

    @Test(arguments: [
        ("DEFINE SCHEMA\n /* never", SchemaError.Reason.unended(.comment), 2, 2),
        ("DEFINE SCHEMA \"x\n\"", .unended(.quotedName), 1, 15),
        ("DEFINE SCHEMA CREATE ROLE \"a b\";", .nameInvalid("a b"), 1, 27),
        ("DEFINE SCHEMA RECORD TYPE \"_T\" (f STRING);", .nameInvalid("_T"), 1, 27),
        ("DEFINE SCHEMA RECORD TYPE \"\" (f STRING);", .nameInvalid(""), 1, 27),
        (type("\"é\" STRING"), .nameInvalid("é"), 2, 16),
        (type("\"___parent\" REFERENCE"), .systemNameUnknown("___parent"), 2, 16),
        (type("\"_f\" STRING"), .systemNameUnknown("_f"), 2, 16),
        ("DEFINE SCHEMA CREATE ROLE \"_world\";", .roleReserved("_world"), 1, 27),
        ("DEFINE SCHEMA CREATE ROLE r; CREATE ROLE r;", .duplicateRole("r"), 1, 42),
        (type("f STRING") + "\nRECORD TYPE T (f STRING);", .duplicateType("T"), 3, 13),
        (type("f STRING,\nf STRING"), .duplicateField("f"), 3, 1),
        (type("\"___etag\" STRING, \"___etag\" STRING"), .duplicateField("___etag"), 2, 34),
        (type("f STRING SORTABLE sortable"), .duplicateIndex("SORTABLE"), 2, 34),
        (
            type("f ASSET QUERYABLE"),
            .indexNotPossible(index: "QUERYABLE", field: "f", type: "ASSET"), 2, 24
        ),
        (
            type("f LIST<ASSET> QUERYABLE"),
            .indexNotPossible(index: "QUERYABLE", field: "f", type: "LIST<ASSET>"), 2, 30
        ),
        (
            type("f ENCRYPTED STRING SEARCHABLE"),
            .indexNotPossible(index: "SEARCHABLE", field: "f", type: "ENCRYPTED STRING"), 2, 35
        ),
        (
            type("f INT64 QUERYABLE SEARCHABLE"),
            .indexNotPossible(index: "SEARCHABLE", field: "f", type: "INT64"), 2, 34
        ),
        (
            type("f LIST<STRING> SORTABLE"),
            .indexNotPossible(index: "SORTABLE", field: "f", type: "LIST<STRING>"), 2, 31
        ),
        (
            type("\"___etag\" INT64"),
            .systemFieldRetyped(field: "___etag", type: "INT64", defined: "STRING"), 2, 26
        ),
        (
            type("\"___etag\" ENCRYPTED STRING"),
            .systemFieldRetyped(field: "___etag", type: "ENCRYPTED STRING", defined: "STRING"), 2, 26
        ),
        (
            "DEFINE SCHEMA RECORD TYPE Users (roles STRING);",
            .systemFieldRetyped(field: "roles", type: "STRING", defined: "LIST<INT64>"), 1, 40
        ),
        (type("GRANT READ TO \"_world\", GRANT READ TO nobody"), .roleUnknown("nobody"), 2, 54),
    ])
    func `what the grammar permits and a schema does not is named`(
        text: String,
        reason: SchemaError.Reason,
        line: Int,
        column: Int
    ) throws {
        let error = try #require(self.error(text))
        #expect(error == SchemaError(reason, at: SchemaPosition(line: line, column: column)))
        #expect(error.description.contains("line \(line), column \(column)"))
    }

    @Test func `a text, its types, their fields and roles have bounds`() throws {
        let start = "DEFINE SCHEMA "
        let space = String(repeating: " ", count: Bounds.schemaBytesMax - start.utf8.count)
        #expect(self.error(start + space) == nil)
        #expect(self.error(start + space + " ")?.reason == .textTooLarge(bytes: Bounds.schemaBytesMax + 1))

        // That of user records is one of them, named or not.
        let types = (0..<999).map { "RECORD TYPE T\($0) (f STRING);" }.joined()
        #expect(self.error(start + types) == nil)
        #expect(self.error(start + types + "RECORD TYPE Users (f STRING);") == nil)
        #expect(self.error(start + types + "RECORD TYPE T (f STRING);")?.reason == .tooManyTypes)

        let fields = "\"___etag\" STRING," + (0..<1_000).map { "f\($0) STRING" }.joined(separator: ",")
        #expect(self.error(Self.type(fields)) == nil)
        #expect(self.error(Self.type(fields + ", f STRING"))?.reason == .tooManyFields(type: "T"))

        // User records have that of their roles, named or not.
        let users =
            "DEFINE SCHEMA RECORD TYPE Users (" + (0..<999).map { "f\($0) STRING" }.joined(separator: ",")
        #expect(self.error(users + ");") == nil)
        #expect(self.error(users + ", roles LIST<INT64>);") == nil)
        #expect(self.error(users + ", f STRING);")?.reason == .tooManyFields(type: "Users"))

        let roles = (0..<1_000).map { "CREATE ROLE r\($0);" }.joined()
        #expect(self.error(start + roles) == nil)
        #expect(self.error(start + roles + "CREATE ROLE r;")?.reason == .tooManyRoles)

        let name = String(repeating: "n", count: 255)
        #expect(self.error(Self.type("\(name) STRING")) == nil)
        #expect(self.error(Self.type("\"\(name)n\" STRING"))?.reason == .nameInvalid(name + "n"))
    }

    @Test func `a text is taken apart in a time that its length bounds`() throws {
        let grants = (0..<40_000).map { "GRANT READ TO r\($0)" }.joined(separator: ",")
        #expect(self.error(Self.type(grants))?.reason == .roleUnknown("r0"))
        let word = String(repeating: "w", count: 1_000_000)
        let error = try #require(self.error("DEFINE SCHEMA " + word))
        #expect(error.description.utf8.count < Bounds.messageBytesMax)
    }

    @Test func `whatever the bytes, there is an error or a schema that can be printed`() throws {
        let text = Array(SchemaRulesTests.sample.text.utf8)
        for end in 0..<text.count {
            for byte: UInt8 in [0x00, 0x22, 0x28, 0x2C, 0xFF] {
                var broken = text
                broken[end] = byte
                self.checkIsReadOrRefused(broken)
            }
            self.checkIsReadOrRefused(Array(text[..<end]))
        }
    }

    private func checkIsReadOrRefused(_ bytes: [UInt8]) {
        do throws(SchemaError) {
            let document = try SchemaParser.parse(bytes)
            #expect((try? SchemaParser.parse(document.text)) == document)
        } catch {
            #expect(error.position.line >= 1 && error.position.column >= 1)
        }
    }
}
