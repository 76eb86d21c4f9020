/// Sentences of a document or of a comment: lines that belong together, and the number of the first.
struct Paragraph {
    /// From 1.
    let line: Int
    /// The lines, with their breaks.
    let text: String
}

/// Wording that house style does not want (section 12).
enum Prose {
    struct Finding: Equatable {
        /// From 1.
        let line: Int
        let advice: String
    }

    static func findings(in paragraphs: [Paragraph]) -> [Finding] {
        paragraphs.flatMap { paragraph in
            self.nilAsLabel(paragraph) + self.pronouns(paragraph) + self.headlessSubjects(paragraph)
        }
    }

    /// Phrases that readers of English stumble over.
    static func stumbles(in paragraphs: [Paragraph]) -> [Finding] {
        paragraphs.flatMap { paragraph in
            guard self.mentions(self.stumblingWords, in: paragraph) else { return [Finding]() }
            let text = self.withoutQuotations(paragraph.text)
            func findings(_ pattern: some RegexComponent, _ advice: String) -> [Finding] {
                text.ranges(of: pattern).map { range in
                    let phrase = text[range].trimmingPrefix { !$0.isLetter }
                    return Finding(
                        line: paragraph.line + self.lineBreaks(in: text[..<phrase.startIndex]),
                        advice: "'\(phrase)': \(advice)"
                    )
                }
            }
            return findings(/\b(?i:nobody|somebody|everybody)\b/, "name the actor")
                + findings(/\b[Ss]o\s+(?:many|long)\b(?!\s+that)/, "write 'the number of' or 'the time'")
                + findings(/\bof\s+which\b|\b[Ww]hose\b/, "write 'with', or two sentences")
                + findings(/\blooks\s+whether\b/, "write 'checks'")
                + findings(/(?:^|[.!:][*_)]*\s)[\s*_(]*What\b[^.!?]*\bis\b(?![^.!]*\?)/, "begin with a noun")
        }
    }

    private static let stumblingWords: Set<Substring> = [
        "nobody", "Nobody", "somebody", "Somebody", "everybody", "Everybody", "so", "So", "which", "whose",
        "Whose", "looks", "What",
    ]

    /// A label has no verb; "`nil` if there is none" has one.
    private static func nilAsLabel(_ paragraph: Paragraph) -> [Finding] {
        guard self.mentions(["nil"], in: paragraph) else { return [] }
        return paragraph.text.matches(of: /`nil`:/).map { match in
            self.finding(in: paragraph, at: match.startIndex, "write '`nil` if …', not '`nil`: …'")
        }
    }

    /// Users, clients and operators are "they".
    private static func pronouns(_ paragraph: Paragraph) -> [Finding] {
        let pronouns: Set<Substring> = ["he", "him", "his", "himself", "He", "Him", "His", "Himself"]
        guard self.mentions(pronouns, in: paragraph) else { return [] }
        let text = self.withoutQuotations(paragraph.text)
        return text.matches(of: /\b(?i:he|him|his|himself)\b/).map { match in
            Finding(
                line: paragraph.line + self.lineBreaks(in: text[..<match.startIndex]),
                advice: "'\(match.output)' is nobody's pronoun here: name the user, or write 'they'"
            )
        }
    }

    /// "Who asks for more is refused" hides its subject; a question may begin so.
    private static func headlessSubjects(_ paragraph: Paragraph) -> [Finding] {
        let subjects: Set<Substring> = ["Who", "Whom", "Whoever", "Whomever", "Whatever"]
        guard self.mentions(subjects, in: paragraph) else { return [] }
        let text = self.withoutQuotations(paragraph.text)
        let pattern = /(?:^|[.!?:][*_)]*\s)[\s*_(]*(Who|Whom|Whoever|Whomever|Whatever)\b[^.!?]*(\?)?/
        return text.matches(of: pattern).filter { $0.2 == nil }.map { match in
            Finding(
                line: paragraph.line + self.lineBreaks(in: text[..<match.1.startIndex]),
                advice: "'\(match.1)' as a subject: begin with a noun"
            )
        }
    }

    /// Looks for whole words: most paragraphs have none of them, and a pattern takes much longer.
    private static func mentions(_ words: Set<Substring>, in paragraph: Paragraph) -> Bool {
        !words.isDisjoint(with: Words.identifiers(in: paragraph.text[...]))
    }

    /// What stands between quotation marks or backticks is blanked: names of tests, and others' words.
    private static func withoutQuotations(_ text: String) -> String {
        text.replacing(/"[^"]*"|`[^`]*`/) { match in
            String(match.output.map { $0 == "\n" ? "\n" : " " })
        }
    }

    private static func finding(
        in paragraph: Paragraph,
        at index: String.Index,
        _ advice: String
    ) -> Finding {
        Finding(line: paragraph.line + self.lineBreaks(in: paragraph.text[..<index]), advice: advice)
    }

    private static func lineBreaks(in text: Substring) -> Int { text.count { $0 == "\n" } }
}

extension SourceFile {
    /// The comments: consecutive lines are one paragraph, until an empty one or a list item.
    var commentParagraphs: [Paragraph] {
        var paragraphs: [Paragraph] = []
        var first = 0
        var lines: [String] = []
        func finish() {
            if !lines.isEmpty {
                paragraphs.append(Paragraph(line: first, text: lines.joined(separator: "\n")))
            }
            lines = []
        }
        for (index, line) in self.commentLines.enumerated() {
            let text = String(line.drop { "/* ".contains($0) })
            if text.isEmpty || text.hasPrefix("- ") || self.hasCode(index) { finish() }
            if text.isEmpty { continue }
            if lines.isEmpty { first = index + 1 }
            lines.append(text)
        }
        finish()
        return paragraphs
    }

    /// Whether a line has something beside its comment.
    private func hasCode(_ index: Int) -> Bool {
        index < self.codeLines.count && self.codeLines[index].contains { $0 != " " }
    }
}

extension Document {
    /// The text: paragraphs, items of lists and rows of tables, without headings and blocks of code.
    var paragraphs: [Paragraph] {
        var paragraphs: [Paragraph] = []
        var first = 0
        var lines: [String] = []
        func finish() {
            if !lines.isEmpty {
                paragraphs.append(Paragraph(line: first, text: lines.joined(separator: "\n")))
            }
            lines = []
        }
        for (number, kind, line) in self.numberedLines {
            let text = line.drop { $0 == " " }
            let isItem =
                text.hasPrefix("* ") || text.hasPrefix("- ") || text.prefixMatch(of: /\d+\.\s/) != nil
            if kind != .text || text.isEmpty || isItem { finish() }
            if kind == .table {
                let cells = line.split(separator: " | ").map { $0.trimmingPrefix("| ") }
                paragraphs += cells.map { Paragraph(line: number, text: String($0)) }
            }
            guard kind == .text, !text.isEmpty else { continue }
            if lines.isEmpty { first = number }
            lines.append(String(isItem ? text.drop { $0 != " " }.dropFirst() : text))
        }
        finish()
        return paragraphs
    }
}

extension Rules {
    @Sendable
    static func commentProse(_ file: SourceFile) -> [Offence] {
        if file.isMarkedTable { return [] }
        return Prose.findings(in: file.commentParagraphs).map {
            Offence(path: file.path, line: $0.line, advice: $0.advice)
        }
    }

    /// The comments of what is shipped read as English does.
    @Sendable
    static func commentStumbles(_ file: SourceFile) -> [Offence] {
        if file.isTest || file.isMarkedTable { return [] }
        return Prose.stumbles(in: file.commentParagraphs).map {
            Offence(path: file.path, line: $0.line, advice: $0.advice)
        }
    }

    /// Decisions keep the words of their time.
    static func documentStumbles(_ document: Document) -> [Offence] {
        if document.path == "Sources/DECISIONS.md" { return [] }
        return Prose.stumbles(in: document.paragraphs).map {
            Offence(path: document.path, line: $0.line, advice: $0.advice)
        }
    }

    static func documentProse(_ document: Document) -> [Offence] {
        Prose.findings(in: document.paragraphs).map {
            Offence(path: document.path, line: $0.line, advice: $0.advice)
        }
    }
}
