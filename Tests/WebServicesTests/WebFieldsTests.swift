import Foundation
import RecordModel
import Testing

@testable import RecordJSON

/// Fields and records in the form of CloudKit Web Services, read and written.
struct WebFieldsTests {
    private static func body(_ text: String) throws -> (body: RecordBody, error: BodyError?) {
        try WebFields.body(of: try JSONParser.parse(Array(text.utf8)), own: "_me")
    }

    private static func value(_ text: String) throws -> FieldValue? {
        try self.body("{\"f\":\(text)}").body.fields.first?.value
    }

    private static func written(_ value: FieldValue, asTexts: Bool = false) -> String {
        let record = Record(
            id: RecordID(zone: .default, recordName: "r"),
            recordType: "Note",
            changeTag: "1",
            system: SystemFields(
                createdMilliseconds: 1,
                modifiedMilliseconds: 2,
                createdBy: "_a",
                modifiedBy: ""
            ),
            body: RecordBody([Field(name: "f", value: value)])
        )
        var output = JSONOutput()
        output.webRecord(record, WebForm(owner: nil, numbersAsStrings: asTexts))
        let text = String(decoding: output.text, as: UTF8.self)
        return String(text[text.range(of: "\"fields\":{\"f\":")!.upperBound...].dropLast(2))
    }

    @Test(
        arguments: [
            (#"{"value":"Tea","type":"STRING"}"#, .string("Tea")), (#"{"value":"Tea"}"#, .string("Tea")),
            (#"{"value":7,"type":"INT64"}"#, .int64(7)), (#"{"value":7}"#, .int64(7)),
            (#"{"value":true}"#, .int64(1)), (#"{"value":"7","type":"INT64"}"#, .int64(7)),
            (#"{"value":-9223372036854775808}"#, .int64(.min)),
            (#"{"value":7,"type":"DOUBLE"}"#, .double(7)), (#"{"value":7e0}"#, .double(7)),
            (#"{"value":978307200001,"type":"TIMESTAMP"}"#, .timestamp(0.001)),
            (#"{"value":"AQI=","type":"BYTES"}"#, .bytes([1, 2])),
            (
                #"{"value":{"recordName":"b","action":"DELETE_SELF"}}"#,
                .reference(Reference(recordName: "b", action: .deleteSelf))
            ),
            (#"{"value":{"latitude":1,"longitude":2.5}}"#, .location(Location(latitude: 1, longitude: 2.5))),
            (#"{"value":[1,2.5]}"#, .doubleList([1, 2.5])),
            (#"{"value":["a"],"type":"LIST"}"#, .stringList(["a"])),
            (#"{"value":[],"type":"UNKNOWN_LIST"}"#, .emptyList), (#"{"value":[]}"#, .emptyList),
            (#"{"value":null}"#, .clear), ("{}", .clear), ("null", .clear),
        ] as [(String, FieldValue)]
    )
    func `a field is read, with a type and without`(text: String, value: FieldValue) throws {
        #expect(try Self.value(text) == value)
    }

    @Test(
        arguments: [
            #"{"value":1.5,"type":"TIMESTAMP"}"#, #"{"value":"1","type":"STRING_LIST"}"#,
            #"{"value":1,"type":"STRING"}"#, #"{"value":9223372036854775808}"#, #"{"value":1e400}"#,
            #"{"value":"A Q=","type":"BYTES"}"#, #"{"value":[1,"a"]}"#, #"{"value":{}}"#,
            #"{"value":{"recordName":"b"}}"#, #"{"value":1,"type":"NUMBER"}"#, "[]", "7",
            #"{"value":{"recordName":"b","action":"CASCADE"}}"#, #"{"value":[[1]]}"#,
            #"{"value":9300000000000000000,"type":"TIMESTAMP"}"#,
            #"{"value":{"fileChecksum":"AA==","size":1},"type":"ASSETID"}"#,
        ]
    )
    func `a field without its form is refused with its place`(text: String) throws {
        #expect {
            try Self.value(text)
        } throws: { error in
            (error as? WebInputError).map { $0.position.line == 1 && $0.text.contains("f") } ?? false
        }
    }

    @Test
    func `what a save may not have is the fault of its item`() throws {
        let faulty = try Self.body(#"{"1f":{"value":1}}"#)
        #expect(faulty.error != nil && faulty.body.isEmpty)
        #expect(try Self.body(#"{"f":{"value":1}}"#).error == nil)
    }

    @Test(
        arguments: [
            (.string("Tea\n\u{1B}"), #"{"value":"Tea\n\u001b","type":"STRING"}"#),
            (.int64(-7), #"{"value":-7,"type":"INT64"}"#),
            (.double(.nan), #"{"value":"NaN","type":"DOUBLE"}"#),
            (.double(-.infinity), #"{"value":"-Infinity","type":"DOUBLE"}"#),
            (.timestamp(0.001), #"{"value":978307200001,"type":"TIMESTAMP"}"#),
            (.timestamp(0.0019), #"{"value":978307200001,"type":"TIMESTAMP"}"#),
            (.bytes([1, 2]), #"{"value":"AQI=","type":"BYTES"}"#),
            (.stringList([]), #"{"value":[],"type":"STRING_LIST"}"#),
            (.emptyList, #"{"value":[],"type":"UNKNOWN_LIST"}"#),
            (
                .asset(Asset(sha256: [UInt8](repeating: 0, count: 32), size: 5)),
                #"{"value":{"fileChecksum":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","size":5},"type":"ASSETID"}"#
            ),
            (
                .referenceList([Reference(recordName: "b", action: .none)]),
                #"{"value":[{"recordName":"b","action":"NONE"}],"type":"REFERENCE_LIST"}"#
            ),
        ] as [(FieldValue, String)]
    )
    func `a field is written`(value: FieldValue, text: String) {
        #expect(Self.written(value) == text)
    }

    @Test
    func `numbers are texts if a client wants them so`() {
        #expect(Self.written(.int64(7), asTexts: true) == #"{"value":"7","type":"INT64"}"#)
        #expect(Self.written(.timestamp(0), asTexts: true) == #"{"value":"978307200000","type":"TIMESTAMP"}"#)
        #expect(Self.written(.doubleList([1]), asTexts: true) == #"{"value":["1.0"],"type":"DOUBLE_LIST"}"#)
    }

    /// Each millisecond is a double that no other is: written and read, it stays.
    @Test
    func `a date of whole milliseconds stays what it is`() throws {
        var milliseconds: Int64 = 1_764_337_560_000
        for step in 0..<10_000 {
            milliseconds += Int64(step) * 977 + 1
            let seconds = try #require(WebDate.seconds(milliseconds: milliseconds))
            #expect(WebDate.milliseconds(seconds: seconds) == milliseconds)
            #expect(JSONDate.seconds(milliseconds: "\(milliseconds)") == seconds)
        }
        #expect(WebDate.milliseconds(seconds: .infinity) > 0)
        #expect(WebDate.milliseconds(seconds: -.infinity) < 0)
    }

    @Test
    func `a record and a deletion are written in one order`() {
        var output = JSONOutput()
        let form = WebForm(owner: "_me")
        let zone = ZoneID(zoneName: "Notes")
        let record = Record(
            id: RecordID(zone: zone, recordName: "r"),
            recordType: "Note",
            changeTag: "k3",
            system: SystemFields(
                createdMilliseconds: 1,
                modifiedMilliseconds: 2,
                createdBy: "_a",
                modifiedBy: "_b"
            ),
            parent: "p",
            body: RecordBody([
                Field(
                    name: ShareRecord.referenceField,
                    value: .reference(Reference(recordName: "s", action: .none))
                )
            ])
        )
        output.array([0]) { output, _ in
            output.webRecord(record, form)
            output.webDeletion(RecordID(zone: .default, recordName: "d"), WebForm(owner: nil))
        }
        #expect(
            String(decoding: output.text, as: UTF8.self)
                == #"[{"recordName":"r","recordType":"Note","recordChangeTag":"k3","#
                + #""zoneID":{"zoneName":"Notes","ownerRecordName":"_me","zoneType":"REGULAR_CUSTOM_ZONE"},"#
                + #""parent":{"recordName":"p"},"share":{"recordName":"s","zoneID":{"zoneName":"Notes","#
                + #""ownerRecordName":"_me","zoneType":"REGULAR_CUSTOM_ZONE"}},"#
                + #""created":{"timestamp":1,"userRecordName":"_a","deviceID":"0"},"#
                + #""modified":{"timestamp":2,"userRecordName":"_b","deviceID":"0"},"deleted":false,"#
                + #""pluginFields":{},"fields":{}},"#
                + #"{"recordName":"d","zoneID":{"zoneName":"_defaultZone","zoneType":"DEFAULT_ZONE"},"#
                + #""deleted":true}]"#
        )
    }

    @Test
    func `a query is read`() throws {
        let text = #"""
            {"recordType":"Note","filterBy":[
              {"fieldName":"n","comparator":"LESS_THAN","fieldValue":{"value":7,"type":"INT64"}},
              {"systemFieldName":"recordName","comparator":"IN","fieldValue":{"value":[{"recordName":"a"}]}},
              {"fieldName":"place","fieldValue":{"latitude":1,"longitude":2},"distance":100},
              {"comparator":"CONTAINS_ALL_TOKENS","fieldValue":{"value":"tea"}},
              {"systemFieldName":"createdUserRecordName","comparator":"EQUALS","fieldValue":{"value":"_a"}}],
             "sortBy":[{"fieldName":"n","ascending":false},{"systemFieldName":"modifiedTimestamp"}]}
            """#
        let query = try WebQuery.query(
            WebObject(JSONParser.parse(Array(text.utf8)), of: "the query"),
            own: nil
        )
        #expect(query.recordType == "Note")
        #expect(
            query.predicate
                == .and([
                    .comparison(Comparison(field: "n", comparator: .lessThan, operand: .int64(7))),
                    .comparison(
                        Comparison(
                            field: "___recordID",
                            comparator: .in,
                            operand: .referenceList([Reference(recordName: "a", action: .none)])
                        )
                    ),
                    .comparison(
                        Comparison(
                            field: "place",
                            comparator: .near,
                            operand: .location(Location(latitude: 1, longitude: 2)),
                            distanceMetres: 100
                        )
                    ),
                    .comparison(
                        Comparison(
                            field: "___allText",
                            comparator: .containsAllTokens,
                            operand: .string("tea")
                        )
                    ),
                    .comparison(
                        Comparison(
                            field: "___createdBy",
                            comparator: .equals,
                            operand: .reference(Reference(recordName: "_a", action: .none))
                        )
                    ),
                ])
        )
        #expect(query.sort == [SortKey(field: "n", isAscending: false), SortKey(field: "___modTime")])
    }

    @Test(
        arguments: [
            #"{"filterBy":[]}"#, #"{"recordType":"A","filterBy":[{"comparator":"EQUALS"}]}"#,
            #"{"recordType":"A","filterBy":[{"fieldName":"n","fieldValue":{"value":1}}]}"#,
            #"{"recordType":"A","filterBy":[{"fieldName":"n","comparator":"LIKE","fieldValue":{"value":1}}]}"#,
            #"{"recordType":"A","filterBy":{}}"#, #"{"recordType":"A","sortBy":[{}]}"#,
            #"{"recordType":"A","sortBy":[{"systemFieldName":"colour"}]}"#, #"{"recordType":7}"#,
        ]
    )
    func `a query without its form is refused`(text: String) throws {
        #expect(throws: WebInputError.self) {
            try WebQuery.query(WebObject(JSONParser.parse(Array(text.utf8)), of: "the query"), own: nil)
        }
    }
}
