import RecordStore

/// The difference of two schemas as a list.
enum DifferenceMarkup {
    static func list(_ difference: SchemaDifference) -> Markup {
        let lines = difference.lines.map { line -> Markup in
            let word: Markup =
                switch line.sign {
                case .added: "added"
                case .removed: "removed"
                case .changed: "changed"
                }
            let inner: Markup = line.isInner ? " inner" : ""
            return
                "<li class=\"\(word)\(inner)\"><span class=\"sign\">\(word)</span> <code>\(Shown.text(line.text))</code></li>"
        }
        return "<ul class=\"difference\">\(lines)</ul>"
    }
}
