import RecordModel
import TestSupport
import Testing

@Suite struct NameRulesTests {
    @Test func `a name of 255 bytes is one, of 256 is none`() {
        let longest = String(repeating: "a", count: Bounds.nameBytesMax)
        #expect(NameRules.isItemName(longest) && NameRules.isIdentifier(longest.utf8))
        #expect(NameRules.isContainerID(longest))
        #expect(!NameRules.isItemName(longest + "a") && !NameRules.isIdentifier((longest + "a").utf8))
        #expect(!NameRules.isContainerID(longest + "a"))
        #expect(!NameRules.isItemName("") && !NameRules.isIdentifier("".utf8) && !NameRules.isContainerID(""))
    }

    @Test func `item names are printable ASCII that does not start with an underscore`() {
        for name in ["a", "~", " ", "a_b", "550e8400-e29b-41d4-a716-446655440000", "1"] {
            #expect(NameRules.isItemName(name), "\(name)")
        }
        for name in ["_a", "ä", "a\u{7F}", "a\u{1F}", "a\n", "🌊"] {
            #expect(!NameRules.isItemName(name), "\(name)")
        }
    }

    @Test func `record names are text without control characters, of at most 255 UTF-16 units`() {
        let units = Bounds.recordNameUnitsMax
        for name in [
            "a", "~", " ", "a_b", "\u{E4}", "e\u{301}", "日本", "🌊", "\u{A0}", "\u{FEFF}", "\u{200D}",
            String(repeating: "a", count: units), String(repeating: "語", count: units),
            String(repeating: "🌊", count: units / 2) + "a",
        ] {
            #expect(NameRules.isRecordName(name), "\(name)")
            #expect(name.utf8.count <= Bounds.recordNameBytesMax)
        }
        for name in [
            "", "_a", "_", "a\u{0}", "a\u{1F}", "a\n", "a\u{7F}", "\u{80}", "\u{9F}a",
            String(repeating: "a", count: units + 1), String(repeating: "語", count: units + 1),
            String(repeating: "🌊", count: units / 2 + 1),
        ] {
            #expect(!NameRules.isRecordName(name), "\(Array(name.utf8))")
        }
    }

    @Test func `names are equal, hash and sort by their bytes`() {
        let (composed, decomposed) = (ExactName("\u{E9}"), ExactName("e\u{301}"))
        #expect(composed.text == decomposed.text && composed != decomposed)
        #expect(composed.hashValue != decomposed.hashValue && composed == ExactName("\u{E9}"))
        #expect(decomposed < composed && !(composed < decomposed) && ExactName("a") < ExactName("ab"))
        // A private character comes before an emoji in UTF-8, and behind it in UTF-16.
        #expect(ExactName("\u{F000}") < ExactName("\u{1F30A}"))
        let ids = ["\u{E9}", "e\u{301}"].map { RecordID(zone: .default, recordName: $0) }
        let references = ids.map { Reference(recordName: $0.recordName, action: .none) }
        #expect(ids[0] != ids[1] && Set(ids).count == 2 && Set(references).count == 2)
    }

    @Test func `a name in a text is cut and has nothing that a terminal obeys`() {
        #expect(NameRules.quoted("a\u{1B}[31m\u{202E}\u{9B}") == #"'a\u{1B}[31m\u{202E}\u{9B}'"#)
        #expect(
            NameRules.quoted(String(repeating: "x", count: 256)) == "'\(String(repeating: "x", count: 255))…'"
        )
    }

    @Test func `subscription IDs are printable ASCII of 1 to 255 bytes`() {
        for id in ["a", "~", " ", "_a", String(repeating: "s", count: 255)] {
            #expect(NameRules.isSubscriptionID(id), "\(id)")
        }
        for id in ["", "ä", "a\u{7F}", "a\u{1F}", String(repeating: "s", count: 256)] {
            #expect(!NameRules.isSubscriptionID(id), "\(id)")
        }
    }

    @Test func `a user record name is an underscore and 32 lower-case hexadecimal digits`() {
        let digits = "0123456789abcdef0123456789abcdef"
        #expect(NameRules.isUserRecordName("_" + digits))
        for name in [
            "_" + digits.dropLast(), "_" + digits + "0", digits + "0", "_" + digits.uppercased(), "_",
        ] {
            #expect(!NameRules.isUserRecordName(name), "\(name)")
        }
    }

    @Test func `an identifier is a letter and then letters, digits and underscores`() {
        for name in ["a", "Z9_", "title", "@", "[", "`", "{", "a.b", "9", "_"] {
            let isOne = ["a", "Z9_", "title"].contains(name)
            #expect(NameRules.isIdentifier(name.utf8) == isOne, "\(name)")
        }
        #expect(NameRules.isContainerID("iCloud.com.example-1.notes_2"))
        #expect(!NameRules.isContainerID("1cloud") && !NameRules.isContainerID("a/b"))
    }

    @Test func `a request ID keeps its bytes, its version and its clock`() throws {
        var generator = SeededGenerator(seed: 1)
        let requestID = RequestID(milliseconds: 0x0123_4567_89AB, using: &generator)
        #expect(requestID.milliseconds == 0x0123_4567_89AB)
        #expect(requestID.bytes.count == 16)
        #expect(requestID.bytes[6] >> 4 == 7 && requestID.bytes[8] >> 6 == 2)
        #expect(RequestID(bytes: requestID.bytes) == requestID)
        #expect(RequestID(bytes: requestID.bytes.dropLast()) == nil)
        #expect(RequestID(bytes: requestID.bytes + [0]) == nil)
    }
}
