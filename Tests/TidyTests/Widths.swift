/// How many columns a line may have; the formatter sees to the width of code.
enum Widths {
    static let commentMax = 110
    static let documentMax = 100
}

extension Rules {
    /// A line that has a comment, beside code or alone; one long word, such as a URL, may stay.
    @Sendable
    static func commentWidths(_ file: SourceFile) -> [Offence] {
        if file.isMarkedTable { return [] }
        return zip(file.lines, file.commentLines).enumerated().compactMap { index, lines in
            let comment = lines.1.drop { "/* ".contains($0) }
            guard lines.0.count > Widths.commentMax, comment.contains(" ") else { return nil }
            let advice = "\(lines.0.count) columns with a comment, at most \(Widths.commentMax): wrap it"
            return Offence(path: file.path, line: index + 1, advice: advice)
        }
    }

    /// Text outside of tables and blocks of code; the target of a link does not count.
    static func documentWidths(_ document: Document) -> [Offence] {
        document.numberedLines.compactMap { number, kind, line in
            guard kind == .text || kind == .heading else { return nil }
            let width = line.replacing(/\]\([^)\s]+\)/, with: "]").count
            guard width > Widths.documentMax, line.contains(" ") else { return nil }
            let advice = "\(width) columns, at most \(Widths.documentMax): wrap it"
            return Offence(path: document.path, line: number, advice: advice)
        }
    }

    /// A page that explains everything is read by nobody.
    ///
    /// The specification is exempt: it is one contract.
    static func readmeWords(_ document: Document) -> [Offence] {
        guard document.path.hasSuffix("README.md"), document.path != "Protocol/README.md" else { return [] }
        let words = document.wordCount
        guard words > 3_000 else { return [] }
        return [
            Offence(path: document.path, line: 1, advice: "\(words) words, at most 3,000: split it")
        ]
    }
}
