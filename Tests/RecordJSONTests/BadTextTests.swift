import RecordModel
import TestSupport
import Testing

@testable import RecordJSON

/// Texts that no record is made from: each has an error with a position.
@Suite
struct BadTextTests {
    private static func error(_ text: [UInt8]) -> RecordJSONError? {
        var reader = JSONRecordReader(TextInput.pieces(of: text, bytes: 5))
        do {
            while try reader.next() != nil {}
            return nil
        } catch {
            return error as? RecordJSONError
        }
    }

    private static func record(_ fields: String) -> String {
        #"{"recordName":"a","recordType":"T","fields":{"# + fields + "}}"
    }

    @Test(
        arguments: [
            ("x", 1, 1, "expected '{'"),
            ("{\"recordName\":\"a\",\n\"recordType\":}", 2, 14, "expected a value"),
            ("{\"recordName\":\"a\"", 1, 18, "the text ends"),
            ("{\"recordName\":\"a\",\"recordName\":\"b\"}", 1, 19, "'recordName' comes twice"),
            ("{\"recordName\":\"a\"}", 1, 1, "the record has no 'recordType'"),
            ("{\"recordName\":1,\"recordType\":\"T\"}", 1, 15, "a text, and is a number"),
            ("{\"recordName\":\"a\",\"recordType\":\"T\",\"feilds\":{}}", 1, 36, "no record has 'feilds'"),
            ("{\"recordName\":\"a\",\"recordType\":\"T\"}\n\n[1]", 3, 2, "expected '{'"),
            ("{\"recordName\":\"\\ud800\",\"recordType\":\"T\"}", 1, 22, "surrogates"),
            ("{\"recordName\":\"a\u{1}\",\"recordType\":\"T\"}", 1, 17, "control character"),
            (
                Self.record(#""n":{"value":1.5,"type":"INT64"}"#), 1, 59,
                "the field 'n' has to be a whole number"
            ),
            (
                Self.record(#""n":{"value":9223372036854775808}"#), 1, 59,
                "the field 'n' has to be a whole number"
            ),
            (Self.record(#""n":{"value":1e400}"#), 1, 59, "the field 'n' has to be a number that a double"),
            (
                Self.record(#""n":{"value":"2026-11-28","type":"TIMESTAMP"}"#), 1, 59,
                "such as 2026-11-28T10:00:00Z, or milliseconds since 1970, and is another text"
            ),
            (Self.record(#""n":{"value":"x","type":"TEXT"}"#), 1, 70, "has the type 'TEXT'"),
            (Self.record(#""n":{"type":"STRING"}"#), 1, 50, "the field 'n' has no 'value'"),
            (Self.record(#""n":{"value":true}"#), 1, 59, "the field 'n' has no 'type'"),
            (Self.record(#""n":{"value":"*","type":"BYTES"}"#), 1, 59, "bytes in base64"),
            (
                Self.record(#""n":{"value":{"latitude":91,"longitude":0},"type":"LOCATION"}"#), 1, 50,
                "the field 'n'"
            ),
            (Self.record(#""1":{"value":"x"}"#), 1, 50, "the field '1' has to be named"),
            (
                Self.record(#""n":{"value":{"fileChecksum":"00","size":1},"type":"ASSETID"}"#), 1, 75,
                "SHA-256"
            ),
        ] as [(String, Int, Int, String)]
    )
    func `an error names line, column and field`(text: String, line: Int, column: Int, message: String) {
        let error = Self.error(Array(text.utf8))
        #expect(
            error?.position == TextPosition(line: line, column: column),
            "\(error.map { "\($0)" } ?? "no error")"
        )
        #expect(error?.text.contains(message) == true, "\(error?.text ?? "no error")")
    }

    @Test
    func `a text that is not UTF-8 is refused`() {
        let text = Array(#"{"recordName":""#.utf8) + [0xFF] + Array(#"","recordType":"T"}"#.utf8)
        #expect(Self.error(text)?.reason == .notUTF8)
    }

    @Test
    func `levels, values and bytes have a bound`() {
        let many = "{\"a\":[" + String(repeating: "0,", count: JSONParser.valuesMax) + "0]}"
        #expect(Self.error(Array(many.utf8))?.reason == .tooManyValues(max: JSONParser.valuesMax))
        let deep = String(repeating: "[", count: 100_000)
        #expect(
            Self.error(Array(("{\"a\":" + deep).utf8))?.reason == .tooDeep(levelsMax: JSONParser.levelsMax)
        )
        let long = "{\"recordName\":\"" + String(repeating: "x", count: JSONRecordReader.recordBytesMax)
        #expect(Self.error(Array(long.utf8))?.reason == .tooLarge(bytesMax: JSONRecordReader.recordBytesMax))
    }

    @Test
    func `every cut of a record is an error, and never another record`() throws {
        var values = RandomValues(seed: 7)
        for round in 0..<20 {
            let text = RecordJSON.text(of: values.record(round))
            for count in 1..<text.count where count % 3 == 0 {
                #expect(Self.error(Array(text[..<count])) != nil, "\(count) of \(text.count) bytes")
            }
        }
    }

    @Test
    func `random damage gives an error or a checked record`() {
        var values = RandomValues(seed: 11)
        var generator = SeededGenerator(seed: 13)
        for round in 0..<500 {
            var text = RecordJSON.text(of: values.record(round))
            for _ in 0..<3 {
                text[Int.random(in: 0..<text.count, using: &generator)] = UInt8.random(
                    in: 0...255,
                    using: &generator
                )
            }
            var reader = JSONRecordReader(TextInput.pieces(of: text, bytes: 64))
            guard let draft = try? reader.next() else { continue }
            #expect(throws: Never.self) { try RecordBody(checking: draft.changes.bytes, allowsClear: true) }
        }
    }

    @Test(
        arguments: [
            ("", 1, 1, "no 'recordName'"),
            ("title\nx", 1, 1, "no 'recordName'"),
            ("recordName,recordName\n", 1, 12, "'recordName' comes twice"),
            ("recordName,a:INT\n", 1, 12, "has the type 'INT'"),
            ("recordName,a b\n", 1, 12, "no record has 'a b'"),
            ("recordName,n:INT64\nfirst,x", 2, 7, "the field 'n' has to be a value of the type INT64"),
            (
                "recordName,n:TIMESTAMP\nfirst,28.11.2026", 2, 7,
                "2026-11-28T10:00:00Z, or milliseconds since 1970"
            ),
            ("recordName,n\nfirst,1,2", 2, 9, "3 cells"),
            ("recordName,n,m\nfirst,1,2\nsecond,1", 3, 1, "2 cells, and the header names 3"),
            ("recordName,n\nfirst,1\nsec", 3, 1, "1 cell, and the header names 2"),
            ("recordName,n\n,1", 2, 1, "no 'recordName'"),
            ("recordName,n\nfirst,\"x\ny", 2, 7, "the text ends"),
            ("recordName,n\nfirst,\"x\"y", 2, 11, "expected a comma"),
        ] as [(String, Int, Int, String)]
    )
    func `an error of a table names line, column and field`(
        text: String,
        line: Int,
        column: Int,
        message: String
    ) {
        let error = #expect(throws: RecordJSONError.self) {
            var reader = try CSVRecordReader(
                TextInput.pieces(of: Array(text.utf8), bytes: 3),
                recordType: "T"
            )
            while try reader.next() != nil {}
        }
        #expect(
            error?.position == TextPosition(line: line, column: column),
            "\(error.map { "\($0)" } ?? "no error")"
        )
        #expect(error?.text.contains(message) == true, "\(error?.text ?? "no error")")
    }

    @Test
    func `an empty cell is no field, and a quoted one is the empty text`() throws {
        let text = "\u{FEFF}recordName,a,b,c:INT64\r\nfirst,,\"\",\r\n\r\nsecond,x,\"a \"\"b\"\"\r\nc\",7"
        var reader = try CSVRecordReader(TextInput.pieces(of: Array(text.utf8), bytes: 2), recordType: "T")
        let first = try #require(try reader.next())
        #expect(first.changes.fields == [Field(name: "b", value: .string(""))])
        let second = try #require(try reader.next())
        #expect(
            second.changes.fields == [
                Field(name: "a", value: .string("x")), Field(name: "b", value: .string("a \"b\"\r\nc")),
                Field(name: "c", value: .int64(7)),
            ]
        )
        #expect(second.position == TextPosition(line: 4, column: 1))
        #expect(try reader.next() == nil)
    }

    @Test
    func `values without a type are texts, numbers and lists of them`() throws {
        let text = Self.record(
            #""a":{"value":"x"},"b":{"value":1},"c":{"value":1.0},"d":{"value":["x"]},"e":{"value":[1,2.5]},"f":{"value":[]},"g":{"value":null}"#
        )
        let draft = try RecordDraft(JSONParser.parse(Array(text.utf8)))
        #expect(
            draft.changes.fields.map(\.value) == [
                .string("x"), .int64(1), .double(1), .stringList(["x"]), .doubleList([1, 2.5]), .emptyList,
                .clear,
            ]
        )
    }
}
