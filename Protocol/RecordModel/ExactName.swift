/// A name as a key: two are equal, and in order, by the bytes of their UTF-8.
///
/// A `String` compares by canonical equivalence: to it an `é` is equal to an `e` and an accent that
/// combines with it. Record names with these are two names, in every engine. So record names are
/// compared, and are keys, in this type only.
package struct ExactName: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactName, right: ExactName) -> Bool {
        var (left, right) = (left.text, right.text)
        // SAFETY: our own texts, for the time of the call.
        return left.withUTF8 { left in
            Span(_unsafeElements: left).isEqual(0..<left.count, to: &right)
        }
    }

    package static func < (left: ExactName, right: ExactName) -> Bool {
        var (left, right) = (left.text, right.text)
        // SAFETY: as above.
        return left.withUTF8 { left in right.withUTF8 { left.lexicographicallyPrecedes($0) } }
    }

    /// Whether both are the same name, or neither is one.
    package static func areSame(_ left: String?, _ right: String?) -> Bool {
        left.map(ExactName.init) == right.map(ExactName.init)
    }

    package func hash(into hasher: inout Hasher) {
        var text = self.text
        // SAFETY: as above.
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // The end, so that names one behind the other differ from others that have the same bytes.
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
