import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import RecordStore

/// Lists of `Protocol/README.md` that clients build on, against the code.
@Suite struct SpecificationListsTests {
    @Test func `the words that full text leaves out are those of section 5.7`() throws {
        let text = try ProtocolFiles.text("README.md")
        let list = try #require(text.split(separator: "finds nothing: *").last?.split(separator: "*").first)
        let words = list.split(whereSeparator: \.isWhitespace).map(String.init)
        #expect(words.count == SearchTokens.stopWords.count)
        #expect(Set(words) == SearchTokens.stopWords)
    }

    @Test func `the indexes that a first save declares are those of section 5.1`() throws {
        let rows = try Self.rows(below: "| of a | indexes |")
        func indexes(_ kinds: IndexKinds) -> String {
            let names: [(IndexKinds, String)] = [
                (.queryable, "QUERYABLE"), (.sortable, "SORTABLE"), (.searchable, "SEARCHABLE"),
            ]
            let there = names.filter { kinds.contains($0.0) }.map(\.1)
            return there.isEmpty ? "none" : there.joined(separator: ", ")
        }
        let fields: [(String, [FieldType])] = [
            ("STRING", [.string]),
            ("INT64, DOUBLE, TIMESTAMP, LOCATION", [.int64, .double, .timestamp, .location]),
            (
                "REFERENCE; a list of STRING, INT64, DOUBLE, TIMESTAMP, LOCATION or REFERENCE",
                [
                    .reference, .stringList, .int64List, .doubleList, .timestampList, .locationList,
                    .referenceList,
                ]
            ),
            ("BYTES, ASSET and lists of them", [.bytes, .asset, .bytesList, .assetList]),
        ]
        let types = fields.flatMap(\.1)
        #expect(Set(types + [.emptyList, .clear]) == Set(FieldType.allCases))
        for (name, types) in fields {
            for type in types {
                #expect(rows[name] == indexes(.justInTime(for: type, isEncrypted: false)), "\(type)")
                #expect(IndexKinds.justInTime(for: type, isEncrypted: true).isEmpty, "\(type)")
            }
        }
        let system: [(String, [SystemField])] = [
            ("`___recordID`, `___parent`", [.recordID, .parent]),
            ("`___createTime`", [.createTime]),
            ("`___modTime`, `___createdBy`, `___modifiedBy`", [.modTime, .createdBy, .modifiedBy]),
        ]
        for (name, fields) in system {
            for field in fields {
                #expect(rows["record type: " + name] == indexes(.justInTime(for: field)), "\(field)")
            }
        }
        #expect(rows.count == fields.count + system.count)
    }

    /// The two columns of a table.
    private static func rows(below head: String) throws -> [String: String] {
        let lines = try ProtocolFiles.text("README.md").split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        let start = try #require(lines.firstIndex { $0 == head })
        let cells = lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|").map {
                $0.drop { $0 == " " }.split(separator: " ").joined(separator: " ")
            }
        }
        return Dictionary(uniqueKeysWithValues: cells.map { ($0[0], $0[1]) })
    }
}
