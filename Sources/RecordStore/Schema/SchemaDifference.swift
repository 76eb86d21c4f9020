import StorageContract

/// The difference of two schemas, as lines for people.
///
/// ```text
/// + CREATE ROLE editor
/// ~ RECORD TYPE Note
///     + tags LIST<STRING> QUERYABLE
///     ~ title STRING -> STRING QUERYABLE
///     - GRANT READ TO "_world"
/// ```
package struct SchemaDifference: Hashable, Sendable {
    package enum Sign: String, Hashable, Sendable {
        case added = "+"
        case removed = "-"
        case changed = "~"
    }

    package struct Line: Hashable, Sendable {
        package var sign: Sign
        /// Whether the line is within a record type.
        package var isInner: Bool
        package var text: String

        package init(_ sign: Sign, isInner: Bool, _ text: String) {
            self.sign = sign
            self.isInner = isInner
            self.text = text
        }
    }

    package private(set) var lines: [Line] = []

    package init(from old: SchemaDocument, to new: SchemaDocument) {
        for (name, before, after) in Self.paired(old.roles, new.roles, by: { $0 }) {
            guard (before == nil) != (after == nil) else { continue }
            let text = "CREATE ROLE \(SchemaDocument.quoted(name))"
            self.lines.append(Line(before == nil ? .added : .removed, isInner: false, text))
        }
        for (name, before, after) in Self.paired(old.recordTypes, new.recordTypes, by: { $0.name }) {
            let inner = Self.lines(from: before, to: after)
            let text = "RECORD TYPE \(SchemaDocument.quoted(name))"
            switch (before, after) {
            case (nil, _): self.lines.append(Line(.added, isInner: false, text))
            case (_, nil): self.lines.append(Line(.removed, isInner: false, text))
            case (_?, _?) where inner.isEmpty: continue
            case (_?, _?): self.lines.append(Line(.changed, isInner: false, text))
            }
            // The parts of a removed type need no lines of their own.
            if after != nil { self.lines += inner }
        }
    }

    package var isEmpty: Bool { self.lines.isEmpty }

    private static func lines(from old: RecordTypeDefinition?, to new: RecordTypeDefinition?) -> [Line] {
        var lines: [Line] = []
        for (name, before, after) in self.paired(old?.fields ?? [], new?.fields ?? [], by: { $0.name }) {
            let name = SchemaDocument.quoted(name)
            lines += self.line(before?.typeAndIndexesText, after?.typeAndIndexesText) { "\(name) \($0)" }
        }
        for (role, before, after) in self.paired(old?.grants ?? [], new?.grants ?? [], by: { $0.role }) {
            let role = SchemaDocument.quoted(role)
            lines += self.line(before?.permissions.text, after?.permissions.text) { "GRANT \($0) TO \(role)" }
        }
        return lines
    }

    private static func line(_ old: String?, _ new: String?, _ text: (String) -> String) -> [Line] {
        switch (old, new) {
        case (nil, nil): []
        case (nil, let new?): [Line(.added, isInner: true, text(new))]
        case (let old?, nil): [Line(.removed, isInner: true, text(old))]
        case (let old?, let new?): old == new ? [] : [Line(.changed, isInner: true, text("\(old) -> \(new)"))]
        }
    }

    /// Pairs both lists by name: first the new list in its order, then the elements that only the
    /// old one has.
    private static func paired<Element>(
        _ old: [Element],
        _ new: [Element],
        by name: (Element) -> String
    ) -> [(name: String, old: Element?, new: Element?)] {
        var rest: [String: Element] = [:]
        for element in old { rest[name(element)] = element }
        var pairs: [(name: String, old: Element?, new: Element?)] = []
        for element in new {
            pairs.append((name(element), rest.removeValue(forKey: name(element)), element))
        }
        for element in old where rest[name(element)] != nil { pairs.append((name(element), element, nil)) }
        return pairs
    }
}

extension SchemaDifference: CustomStringConvertible {
    /// Each line ends with a line break.
    package var description: String {
        self.lines.map { ($0.isInner ? "    " : "") + $0.sign.rawValue + " " + $0.text + "\n" }.joined()
    }
}
