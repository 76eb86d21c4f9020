extension Document {
    /// The words of the text: paragraphs, items of lists and headings, without tables and blocks of code.
    var proseWordCount: Int {
        self.numberedLines.filter { $0.kind == .text || $0.kind == .heading }
            .map { $0.line.split(separator: " ").count }.reduce(0, +)
    }

    /// How many words a sentence of the text has on average; 0 if there is no sentence.
    ///
    /// A sentence ends with its paragraph, or with a full stop, a question mark or an exclamation mark before
    /// a blank. Code in backticks and a link's text count as they are read.
    var meanSentenceLength: Double {
        var words = 0
        var sentences = 0
        for paragraph in self.textParagraphs {
            let text = paragraph.replacing(/\]\([^)\s]+\)/, with: "]").replacing(/`[^`]*`/, with: "code")
            for sentence in text.split(separator: /[.?!][)*_]*\s/) {
                words += sentence.split(whereSeparator: \.isWhitespace).count
                sentences += 1
            }
        }
        return sentences == 0 ? 0 : Double(words) / Double(sentences)
    }

    private var textParagraphs: [String] {
        let tables = Set(self.numberedLines.filter { $0.kind == .table }.map(\.number))
        return self.paragraphs.filter { !tables.contains($0.line) }.map(\.text)
    }
}
