import RecordModel

extension RecordBody {
    /// Whether the other body has fields of the same names, types and encryption.
    ///
    /// Most saves replace the values of a record's fields: such a save defines nothing, and
    /// replaces the body as it is. So this is asked of nearly every save, on the writer's thread.
    /// It looks at the bytes themselves: up to its value, a field of the one body is that of the
    /// other.
    func hasSameFields(as other: RecordBody) -> Bool {
        let ourBytes = self.bytes.span
        let theirBytes = other.bytes.span
        var ours = WireReader(ourBytes)
        var theirs = WireReader(theirBytes)
        do {
            while !ours.isAtEnd, !theirs.isAtEnd {
                let head = try ours.fieldHead()
                let field = try theirs.field()
                // A head says itself how long it is, so one that has the bytes of this one needs no
                // look at its parts.
                guard head.count <= field.count,
                    ourBytes.isEqual(head, to: theirBytes, from: field.lowerBound)
                else { return false }
            }
            return ours.isAtEnd && theirs.isAtEnd
        } catch {
            return false
        }
    }
}

extension WireReader {
    /// Skips a field of a body.
    ///
    /// Returns its range.
    fileprivate mutating func field() throws(WireFault) -> Range<Int> {
        _ = try self.tag()
        return try self.delimited()
    }

    /// Skips a field of a body.
    ///
    /// Returns the range of what stands before the value: the name, whether the value is encrypted,
    /// and the tag of its type.
    fileprivate mutating func fieldHead() throws(WireFault) -> Range<Int> {
        let field = try self.field()
        var reader = self.part(field)
        _ = try reader.tag()
        _ = try reader.delimited()
        if try reader.tag() == Proto.Field.encrypted.tag {
            _ = try reader.varint()
            _ = try reader.tag()
        }
        return field.lowerBound..<reader.position
    }
}
