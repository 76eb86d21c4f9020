/// The encoded fields of a record: the same bytes in memory, in a frame and on disk.
///
///     body   = *( 0x0A length field )            message RecordFields of tidemark.proto
///     field  = 0x0A length name                  ASCII letter, letters, digits, "_"
///              [ 0x10 0x01 ]                     encrypted
///              value                             exactly one of the numbers 3…10, 17…24, 30, 31
///
/// Names ascend strictly by their bytes, numbers within a message ascend, and variable-length
/// integers are minimal. So equal contents have equal bytes. Merging bodies and selecting desired
/// keys copy bytes, and decode no value.
package struct RecordBody: Hashable, Sendable {
    package static let empty = RecordBody(trusted: [])

    package let bytes: [UInt8]

    /// Takes bytes that this type has made or checked.
    package init(trusted bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var isEmpty: Bool { self.bytes.isEmpty }

    /// The range of each field, in order of names.
    package var slices: [FieldSlice] {
        var slices: [FieldSlice] = []
        var cursor = FieldCursor(self.bytes)
        while let slice = cursor.nextTrusted() { slices.append(slice) }
        return slices
    }

    /// Returns the field with a name; `nil` if there is none.
    package func slice(named name: String) -> FieldSlice? {
        var name = name
        let bytes = self.bytes.span
        var walk = FieldWalk(bytes)
        while let slice = try? walk.next() {
            if bytes.isEqual(slice.name, to: &name) { return slice }
        }
        return nil
    }

    /// The name of a field of this body.
    package func name(of slice: FieldSlice) -> String {
        String(decoding: self.bytes[slice.name], as: UTF8.self)
    }

    /// This body with `changes` applied: a field replaces one of the same name, and `clear` removes
    /// it.
    package func merging(_ changes: RecordBody) -> RecordBody {
        if self.isEmpty, !changes.hasClear { return changes }
        var merged: [UInt8] = []
        merged.reserveCapacity(self.bytes.count + changes.bytes.count)
        var ours = FieldCursor(self.bytes)
        var theirs = FieldCursor(changes.bytes)
        var our = ours.nextTrusted()
        var their = theirs.nextTrusted()
        while let change = their {
            while let kept = our {
                let order = Self.order(self.bytes, kept.name, changes.bytes, change.name)
                guard order <= 0 else { break }
                if order < 0 { merged += self.bytes[kept.entry] }
                our = ours.nextTrusted()
            }
            if change.type != .clear { merged += changes.bytes[change.entry] }
            their = theirs.nextTrusted()
        }
        if let rest = our { merged += self.bytes[rest.entry.lowerBound...] }
        return RecordBody(trusted: merged)
    }

    private var hasClear: Bool {
        var cursor = FieldCursor(self.bytes)
        while let slice = cursor.nextTrusted() {
            if slice.type == .clear { return true }
        }
        return false
    }

    /// This body with only the fields in `keys`.
    package func keeping(_ keys: Set<String>) -> RecordBody {
        var kept: [UInt8] = []
        var cursor = FieldCursor(self.bytes)
        while let slice = cursor.nextTrusted() {
            if keys.contains(self.name(of: slice)) { kept += self.bytes[slice.entry] }
        }
        return RecordBody(trusted: kept)
    }
}

/// The ranges of one field in the bytes of a body.
package struct FieldSlice: Hashable, Sendable {
    /// The whole field, including its outer tag and length.
    package var entry: Range<Int>
    package var name: Range<Int>
    package var isEncrypted: Bool
    package var type: FieldType
    /// The value without its tag, and without its length if it is length-delimited.
    package var value: Range<Int>

    /// Whether only the server writes the field: no key of a client begins with an underscore.
    package func isServers(in bytes: [UInt8]) -> Bool {
        bytes[self.name.lowerBound] == UInt8(ascii: "_")
    }
}
