import RecordModel
import Testing

@Suite struct PrintedTextTests {
    @Test(
        arguments: [
            ("plain é 🌊 日本", "plain é 🌊 日本"), ("a\u{1B}[2Jb", #"a\u001b[2Jb"#),
            ("a\u{7}b\u{8}", #"a\u0007b\u0008"#), ("a\r\nb\tc", #"a\r\nb\tc"#),
            ("\u{7F}\u{80}\u{9B}2J\u{9F}\u{A0}", "\\u007f\\u0080\\u009b2J\\u009f\u{A0}"),
            (
                "\u{202E}x\u{202A}\u{2066}\u{2069}\u{200E}\u{200F}\u{61C}",
                #"\u202ex\u202a\u2066\u2069\u200e\u200f\u061c"#
            ),
            ("\u{2028}\u{2029}\u{2027}\u{202F}", "\\u2028\\u2029\u{2027}\u{202F}"),
            ("👩\u{200D}🚀", "👩\u{200D}🚀"),
        ]
    )
    func `a line has nothing that a terminal obeys`(text: String, line: String) {
        #expect(PrintedText.line(text) == line)
    }

    @Test func `lines keep their breaks and tabs, and nothing else`() {
        #expect(PrintedText.lines("a\n\tb\r\u{1B}") == "a\n\tb\\r\\u001b")
    }

    @Test func `every character that is escaped begins with a byte that says so`() {
        for value in UInt32(0)...0x2FFF {
            guard let scalar = Unicode.Scalar(value), PrintedText.escape(scalar) != nil else { continue }
            let first = Array(String(Character(scalar)).utf8)[0]
            #expect(PrintedText.mayBegin(with: first), "\(value)")
        }
    }

    @Test(
        arguments: [
            ("tidemark://host:7430", "tidemark://host:7430"), ("nonsense", "nonsense"),
            ("tidemark://tm:SECRET@host:7430", "tidemark://***@host:7430"),
            ("tidemark://tm:a@SECRET@host", "tidemark://***@host"),
            ("tidemark:/tm:SECRET/x@host", "tidemark://***@host"),
            ("tidemark://host?token=SECRET", "tidemark://host?***"),
        ]
    )
    func `an address is shown without a password`(address: String, shown: String) {
        #expect(ShownAddress.text(address) == shown)
    }

    @Test func `names of CloudKit have its prefix, and an identifier behind it`() {
        for name in ["cloudkit.share", "cloudkit.title", "cloudkit.thumbnailImageData"] {
            #expect(NameRules.isCloudKitName(name) && !NameRules.isIdentifier(name.utf8), "\(name)")
        }
        for name in ["cloudkit", "cloudkit.", "cloudkit.a.b", "cloudkit._a", "Cloudkit.a", "app.title"] {
            #expect(!NameRules.isCloudKitName(name), "\(name)")
        }
    }
}
