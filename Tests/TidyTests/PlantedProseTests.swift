import Testing

/// The rules about comments and documents see what they are for, and nothing else.
@Suite
struct PlantedProseTests {
    private func comment(_ text: String) -> SourceFile {
        SourceFile(
            path: "Sources/RecordStore/A.swift",
            text: "let a = 1\n\(text)\nlet b = \"Who is it. \\(c)\""
        )
    }

    private func document(_ text: String) -> Document {
        Document(path: "planted.md", text: "# A\n\n\(text)\n")
    }

    @Test(
        arguments: [
            "/// The tag; `nil`: none.", "// It is his record.", "/* He\n may not. */",
            "/// - Returns: Who has it.",
            "/// Saves.\n/// Whoever saves again\n/// gets it.", "let d = 1  // Whatever is there.",
            "/// *Whatever* comes.", "/// A question? Who asks is told. Why?",
        ]
    )
    func `a phrase in a comment is seen`(text: String) {
        #expect(Rules.commentProse(self.comment(text)).count == 1)
        #expect(Rules.commentProse(SourceFile(path: "A.swift", text: "// A table\n" + text)).isEmpty)
    }

    @Test(
        arguments: [
            "/// The tag, or `nil` if there is none.", "/// The heat of this machine, whoever uses it.",
            "/// Who may read it?", "/// `his` and \"Who is it.\" are quotations.", "let d = \"his\"",
            "/// The WHO.", "func `he who saves`() {}",
        ]
    )
    func `what only looks like one is not`(text: String) {
        #expect(Rules.commentProse(self.comment(text)) == [])
    }

    @Test
    func `the line of a phrase is told`() {
        let text = "/// Saves\n/// a record.\n/// Whoever saves\n/// tells him."
        #expect(Rules.commentProse(self.comment(text)).map(\.line) == [5, 4])
    }

    @Test(
        arguments: [
            "A user and his record.", "| a | Who asks |", "* Whoever asks", "1. `nil`: none",
            "It\nends. Who asks is told.",
            "**Whatever comes** goes.",
        ]
    )
    func `a phrase in a document is seen`(text: String) {
        #expect(Rules.documentProse(self.document(text)).count == 1)
    }

    @Test(
        arguments: [
            "```\nWho asks. He.\n```", "    Who asks. He.", "### Who", "`Tests: he asks`",
            "The test \"he asks\".",
            "Who is it?",
        ]
    )
    func `code, headings and quotations in a document are not`(text: String) {
        #expect(Rules.documentProse(self.document(text)) == [])
    }

    @Test
    func `a comment one column too wide is seen`() {
        let fits = "// a " + String(repeating: "ü", count: 105)
        #expect(Rules.commentWidths(self.comment(fits)).isEmpty)
        #expect(Rules.commentWidths(self.comment(fits + "ü")).map(\.line) == [2])
        #expect(Rules.commentWidths(self.comment("/* a\n" + fits + "a\n*/")).map(\.line) == [3])
        let beside = "let a = \"" + String(repeating: "a", count: 88) + "\"  // of all"
        #expect(beside.count == 109)
        #expect(Rules.commentWidths(self.comment(beside + "a")).isEmpty)
        #expect(Rules.commentWidths(self.comment(beside + "aa")).count == 1)
    }

    @Test
    func `wide code and one wide word are not`() {
        let word = String(repeating: "a", count: 120)
        #expect(Rules.commentWidths(self.comment("let a = \"// \(word)\"")).isEmpty)
        #expect(Rules.commentWidths(self.comment("// https://\(word)")).isEmpty)
    }

    @Test
    func `a line of a document one column too wide is seen`() {
        let fits = "a " + String(repeating: "ü", count: 98)
        #expect(Rules.documentWidths(self.document(fits)).isEmpty)
        #expect(Rules.documentWidths(self.document(fits + "ü")).map(\.line) == [3])
        #expect(Rules.documentWidths(self.document("* " + fits)).count == 1)
        for exempt in [
            "| \(fits) |", "```\n\(fits) a\n```", "    \(fits)", "[\(fits.dropLast(2))](a/b/c.md)",
        ] {
            #expect(Rules.documentWidths(self.document(exempt)).isEmpty, "\(exempt)")
        }
    }

    @Test
    func `a README one word too long is seen`() {
        let text = String(repeating: "a ", count: 3_000)
        func offences(_ path: String, _ text: String) -> Int {
            Rules.readmeWords(Document(path: path, text: text)).count
        }
        #expect(offences("Sources/A/README.md", text) == 0)
        #expect(offences("Sources/A/README.md", text + "a") == 1)
        #expect(offences("Sources/A/TABLES.md", text + "a") == 0)
        #expect(offences("Protocol/README.md", text + "a") == 0)
    }
}
