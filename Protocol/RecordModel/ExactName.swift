/// A name as a key: compared and ordered by the bytes of its UTF-8.
///
/// A `String` compares by canonical equivalence: it treats an `é` as equal to an `e` with a
/// combining accent. As record names these differ, in every engine. So record names are compared,
/// and used as keys, only in this type.
package struct ExactName: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactName, right: ExactName) -> Bool {
        var (left, right) = (left.text, right.text)
        // SAFETY: our own texts, for the duration of the call.
        return left.withUTF8 { left in
            Span(_unsafeElements: left).isEqual(0..<left.count, to: &right)
        }
    }

    package static func < (left: ExactName, right: ExactName) -> Bool {
        var (left, right) = (left.text, right.text)
        // SAFETY: as above.
        return left.withUTF8 { left in right.withUTF8 { left.lexicographicallyPrecedes($0) } }
    }

    /// Whether both are the same name, or both are absent.
    package static func areSame(_ left: String?, _ right: String?) -> Bool {
        left.map(ExactName.init) == right.map(ExactName.init)
    }

    package func hash(into hasher: inout Hasher) {
        var text = self.text
        // SAFETY: as above.
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // A terminator, so that consecutive names hash differently from others with the same bytes.
        hasher.combine(0xFF as UInt8)
    }
}

extension Set where Element == ExactName {
    package func contains(_ name: String) -> Bool { self.contains(ExactName(name)) }

    @discardableResult
    package mutating func insert(_ name: String) -> (inserted: Bool, memberAfterInsert: ExactName) {
        self.insert(ExactName(name))
    }
}
