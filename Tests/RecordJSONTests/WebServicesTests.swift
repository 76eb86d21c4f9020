import RecordModel
import TestSupport
import Testing

@testable import RecordJSON

/// Texts as CloudKit Web Services answers them, and others that are not a record a line.
@Suite
struct WebServicesTests {
    private static let a = #"{"recordName":"a","recordType":"T"}"#
    private static let b = #"{"recordType":"T","recordName":"b","fields":{"records":{"value":[1]}}}"#

    /// The drafts of a text, whose pieces have so many bytes.
    private static func drafts(_ text: String, bytes: Int = 3) throws -> [RecordDraft] {
        var reader = JSONRecordReader(TextInput.pieces(of: Array(text.utf8), bytes: bytes))
        var drafts: [RecordDraft] = []
        while let draft = try reader.next() { drafts.append(draft) }
        return drafts
    }

    @Test(
        arguments: [
            "\(Self.a)\n\(Self.b)", "\u{FEFF}\(Self.a)\(Self.b)", "[\(Self.a),\(Self.b)]",
            " [ \(Self.a) ,\n \(Self.b) ] \n", "[\(Self.a)]\n[\(Self.b)]\n[]",
            "{\"records\":[\(Self.a),\(Self.b)]}",
            "\u{FEFF}{ \"continuationMarker\" : \"a\\\"]}\" , \"records\" : [ \(Self.a), \(Self.b) ] }",
            "{\"records\":[\(Self.a)],\"syncToken\":\"x\",\"moreComing\":true}\n{\"moreComing\":false,\"records\":[\(Self.b)]}",
        ]
    )
    func `records come in lines, in arrays and in answers`(text: String) throws {
        for bytes in [1, 3, 1_000] {
            #expect(try Self.drafts(text, bytes: bytes).map(\.recordName) == ["a", "b"])
        }
    }

    @Test(
        arguments: [
            ("[\(Self.a)", 1, 37, "the text ends"), ("[\(Self.a) \(Self.b)]", 1, 38, "expected ',' or ']'"),
            ("[\(Self.a),]", 1, 38, "expected '{'"), ("[1]", 1, 2, "expected '{'"),
            ("]", 1, 1, "expected '{'"),
            ("{\"records\":{}}", 1, 12, "expected an array of records"),
            ("{\"records\":[],\"records\":[]}", 1, 14, "'records' comes twice"),
            ("{\"records\":[],\"zones\":[]}", 1, 14, "no record has 'zones'"),
            ("{\"records\":[]", 1, 14, "the text ends"), ("{\"records\":[", 1, 13, "the text ends"),
            ("{\"syncToken\":\"x\"}", 1, 17, "has no 'records'"),
            ("{\"syncToken\":nope,\"records\":[]}", 1, 15, "expected 'null'"),
            ("{\"records\":[\(Self.a)],\"moreComing\":[]}", 1, 63, "expected a text, true or false"),
        ] as [(String, Int, Int, String)]
    )
    func `an error in an answer has its position`(text: String, line: Int, column: Int, message: String) {
        let error = #expect(throws: RecordJSONError.self) { try Self.drafts(text) }
        #expect(error?.position == TextPosition(line: line, column: column), "\(error.map { "\($0)" } ?? "")")
        #expect(error?.text.contains(message) == true, "\(error?.text ?? "")")
    }

    @Test func `owners of zones count in a shared database alone, and the user's own zone has none`() throws {
        let text = """
            {"recordName":"w1","recordType":"Station","pluginFields":{},"recordChangeTag":"jx8ab3k1",
             "created":{"timestamp":1512345678901,"userRecordName":"_01","deviceID":"2"},"deleted":false,
             "fields":{"r":{"value":{"recordName":"w2","action":"NONE","zoneID":ZONE},"type":"REFERENCE"}},
             "zoneID":ZONE}
            """
        func zones(_ owner: String, _ owners: ZoneOwners) throws -> [ZoneID?] {
            let zone = #"{"zoneName":"Z","ownerRecordName":"\#(owner)","zoneType":"X"}"#
            let node = try JSONParser.parse(Array(text.replacing("ZONE", with: zone).utf8))
            let draft = try RecordDraft(node, owners: owners)
            guard case .reference(let reference)? = draft.changes.fields.first?.value else { return [] }
            return [draft.zone, reference.zone]
        }
        let (own, foreign) = (ZoneID(zoneName: "Z"), ZoneID(zoneName: "Z", ownerName: "_01"))
        #expect(try zones("__defaultOwner__", .count) == [own, own])
        #expect(try zones("_01", .count) == [foreign, foreign])
        #expect(try zones("_01", .sayNothing) == [own, own])
    }

    @Test func `a deletion is none of the records to be saved`() throws {
        let drafts = try Self.drafts(#"{"recordName":"a","deleted":true}"# + Self.b)
        #expect(drafts.map(\.isDeletion) == [true, false])
        #expect(throws: RecordJSONError.self) { try Self.drafts(#"{"recordName":"a","deleted":1}"#) }
    }

    @Test func `what a terminal obeys is escaped, and the same value`() throws {
        let hostile = "a\u{1B}[2J\u{9B}\u{9D}\u{7F}\u{202E}\u{2028}\"\\é🌊"
        var output = JSONOutput()
        output.string(hostile)
        let text = String(decoding: output.text, as: UTF8.self)
        #expect(text == #""a\u001b[2J\u009b\u009d\u007f\u202e\u2028\"\\é🌊""#)
        #expect(try JSONParser.parse(output.text).value == .string(hostile))
        let error = #expect(throws: RecordJSONError.self) {
            try Self.drafts(#"{"recordName":"a","recordType":"T","A\u001b\r\n":1}"#)
        }
        #expect(error.map { "\($0)".contains(#"\u001b\r\n"#) } == true)
    }
}
