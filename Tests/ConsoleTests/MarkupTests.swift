import Testing

@testable import Console

/// Text that anybody wrote never becomes markup, and is shown as it is.
@Suite
struct MarkupTests {
    @Test(
        arguments: [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("\" onclick=\"x", "&quot; onclick=&quot;x"), ("' onclick='x", "&#39; onclick=&#39;x"),
            ("&lt;", "&amp;lt;"), ("a\0b", "a\u{FFFD}b"), ("<!-- --> ]]>", "&lt;!-- --&gt; ]]&gt;"),
            ("e\u{301}<\u{338}", "e\u{301}&lt;\u{338}"),
        ]
    )
    func `text is escaped`(text: String, html: String) {
        let markup: Markup = "<p title=\"\(text)\">\(text)</p>"
        #expect(markup.html == "<p title=\"\(html)\">\(html)</p>")
    }

    @Test
    func `markup in markup is taken as it is`() {
        let inner: Markup = "<b>\("<")</b>"
        let list: [Markup] = [inner, "<br>"]
        let outer: Markup = "<p>\(inner)\(list)\(7)</p>"
        #expect(outer.html == "<p><b>&lt;</b><b>&lt;</b><br>7</p>")
    }

    @Test
    func `a URL is encoded as a query and escaped as an attribute`() {
        let url = PageURL("/c/x", [PageURL.Item("name", "a&b=c \"<ü>+%\n")])
        let markup: Markup = "<a href=\"\(url.adding("q", "1"))\">"
        #expect(
            markup.html
                == "<a href=\"/c/x?name=a%26b%3Dc%20%22%3C%C3%BC%3E%2B%25%0A&amp;q=1\">"
        )
        let items = FormItems(url.text.split(separator: "?")[1])
        #expect(items["name"] == "a&b=c \"<ü>+%\n")
    }

    @Test
    func `items of a form are read, and bad ones left out`() {
        let items = FormItems("a=1+2&b=%zz&a=3&c&d=&e=%FF&=x")
        #expect(items["a"] == "1 2")
        #expect(items.all("a") == ["1 2", "3"])
        #expect(items["b"] == nil)
        #expect(items["c"] == nil)
        #expect(items.all("d") == [""])
        #expect(items["e"] == nil)
        #expect(FormItems(String(repeating: "a=1&", count: 100_000)).all("a").count == 200)
    }

    // MARK: Shown

    @Test(
        arguments: [
            ("\u{202E}txt.exe", "<bdi><span class=\"odd\">U+202E</span>txt.exe</bdi>"),
            ("a\u{1B}[31m", "<bdi>a<span class=\"odd\">U+001B</span>[31m</bdi>"),
            ("\u{FEFF}<b>", "<bdi><span class=\"odd\">U+FEFF</span>&lt;b&gt;</bdi>"),
            ("שלום", "<bdi>שלום</bdi>"), ("👩‍🚀", "<bdi>👩‍🚀</bdi>"),
        ]
    )
    func `characters that are not drawn are shown by their numbers`(text: String, html: String) {
        #expect(Shown.text(text).html == html)
    }

    @Test
    func `a long text is cut between characters, and says how long it is`() {
        #expect(Shown.cut(String(repeating: "a", count: 256)).html.hasSuffix("a</bdi>"))
        let long = Shown.cut(String(repeating: "ü", count: 100_000)).html
        #expect(long.contains("… 195 KiB"))
        #expect(long.utf8.count < 400)
        for bytes in 0...9 {
            let start = Shown.beginning(of: "aü€🚀x", bytes: bytes)
            #expect(start.utf8.count <= bytes)
            #expect("aü€🚀x".hasPrefix(start))
        }
    }

    @Test
    func `numbers and sizes are grouped and rounded`() {
        #expect(Shown.number(Int64.min) == "-9,223,372,036,854,775,808")
        #expect(Shown.number(999) == "999")
        #expect(Shown.number(1_000) == "1,000")
        #expect(Shown.bytes(1_023) == "1023 B")
        #expect(Shown.bytes(1_536) == "1.5 KiB")
        #expect(Shown.bytes(1 << 40) == "1.0 TiB")
        #expect(Shown.count(1, "record") == "1 record")
        #expect(Shown.time(milliseconds: 0).html.contains(">1970-01-01 00:00:00<"))
    }

    @Test
    func `code of a record has no character that ends it or hides`() {
        #expect(
            RecordSwift.literal("a\"\\(x)\n\u{202E}\u{0}ü")
                == #""a\"\\(x)\n\u{202e}\u{0}ü""#
        )
    }
}
