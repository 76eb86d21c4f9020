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

    @Test(
        arguments: [
            "/// A gate that nobody opens.", "// Somebody has to.", "/// Open to everybody.",
            "/// So many reads share one.", "// Waits so\n// long.", "/// Two, of which one is new.",
            "/// A record whose body is new.", "let d = 1  // It looks whether there is one.",
            "/// What follows is a list.", "/// It ends. What *remains*\n/// is kept.",
        ]
    )
    func `a phrase to stumble over is seen in shipped code`(text: String) {
        #expect(Rules.commentStumbles(self.comment(text)).count == 1)
        #expect(Rules.commentStumbles(SourceFile(path: "Tests/ATests/A.swift", text: text)).isEmpty)
        #expect(Rules.commentStumbles(SourceFile(path: "A.swift", text: "// A table\n" + text)).isEmpty)
    }

    @Test(
        arguments: [
            "/// So many that it overflows.", "/// \"nobody\" and `whose` are quotations.",
            "/// What is it?", "let d = \"nobody\"", "/// Which of them it is.", "/// Says what it is.",
        ]
    )
    func `what only looks like a phrase to stumble over is not`(text: String) {
        #expect(Rules.commentStumbles(self.comment(text)) == [])
    }

    @Test(
        arguments: [
            "A gate that nobody opens.", "| a | whose b |", "* So\nmany a second.",
            "| What it holds is | a |", "It looks whether one is there.",
        ]
    )
    func `a phrase to stumble over is seen in a document`(text: String) {
        #expect(Rules.documentStumbles(self.document(text)).count == 1)
        #expect(Rules.documentStumbles(Document(path: "Sources/DECISIONS.md", text: text)).isEmpty)
        #expect(Rules.documentStumbles(self.document("```\n\(text)\n```")).isEmpty)
    }

    @Test
    func `a public type of the SDK without a source is seen`() {
        func offences(_ text: String, in folder: String = "Clients/CloudKit") -> [Int] {
            Rules.sourcesOfTypes(SourceFile(path: folder + "/A.swift", text: text)).map(\.line)
        }
        let bare = "/// A record.\nopen class A {}"
        #expect(offences(bare) == [2])
        #expect(offences("/// A.\n@available(*, deprecated)\npublic final class A {}") == [3])
        for source in ["Apple's `A`", "beyond Apple", "https://developer.apple.com/documentation/a"] {
            #expect(offences("/// A.\n///\n/// - Source: \(source).\n@objc\nopen class A {}") == [])
        }
        #expect(offences("/// A.\n///\n/// - Source: a friend.\nopen class A {}") == [4])
        #expect(offences("/// A.\nstruct A {\n    /// B.\n    public enum B {}\n}") == [])
        #expect(offences("/// B.\npublic func b() {}\n\n/// A.\npublic protocol _A {}") == [])
        #expect(offences(bare, in: "Clients/RecordClient") == [])
        #expect(offences(bare, in: "Clients/CoreLocation") == [2])
    }

    private func entryOffences(_ text: String, in folder: String = "Clients/CloudKit") -> [Offence] {
        Rules.entriesOfMethods(SourceFile(path: folder + "/A.swift", text: text))
    }

    @Test(
        arguments: [
            "public func a(b: B, c: C) {}", "/// - Parameter b: B.\npublic func a(b: B, c: C) {}",
            "@preconcurrency open func a(\n    b: [B: C],\n    d: @escaping (E) -> F\n) {}",
            "    public convenience init?(b: B = .c, d: D) {}", "public init() throws(CKError) {}",
            "public func a() async throws -> (\n    b: B,\n    c: C\n) {}",
            "public func a<B>(c: () throws -> B) rethrows -> B { try c() }",
            "/// - Parameters:\n///   - b: B.\n@discardableResult\npublic func a(b: B, c: C) throws {}",
            "public protocol A {\n    func b(c: C, d: D)\n}",
        ]
    )
    func `a public method of the SDK without an entry is seen`(text: String) {
        #expect(self.entryOffences(text).count == 1)
        #expect(self.entryOffences(text, in: "Clients/CoreLocation").count == 1)
        #expect(self.entryOffences(text, in: "Clients/RecordClient") == [])
    }

    @Test(
        arguments: [
            "/// - Parameters:\n///   - b: B.\n/// - Throws: C.\npublic func a(b: B, c: C) throws {}",
            "func a(b: B, c: C) throws {}", "public func a(b: [B: (C, D) throws -> E]) {}",
            "public override func a(b: B, c: C) {}", "public static func == (b: B, c: C) -> Bool {}",
            "public static func _a(b: B, c: C) {}", "public init(from decoder: any Decoder) throws {}",
            "@available(*, deprecated, renamed: \"b\")\npublic func a(b: B, c: C) {}",
            "public let a = B.init(c: C, d: D)", "public protocol A {}\n\nfunc b(c: C, d: D) {}",
        ]
    )
    func `a method that needs no entry is not`(text: String) {
        #expect(self.entryOffences(text) == [])
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
