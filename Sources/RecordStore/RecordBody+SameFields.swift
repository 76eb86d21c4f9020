import RecordModel

extension RecordBody {
    /// Whether the other body has fields of the same names, types and encryption.
    ///
    /// Most saves replace the values of a record's fields: such a save defines nothing, and replaces the body as it is.
    func hasSameFields(as other: RecordBody) -> Bool {
        var ours = FieldCursor(self.bytes)
        var theirs = FieldCursor(other.bytes)
        while let our = ours.nextTrusted() {
            guard let their = theirs.nextTrusted(), our.type == their.type,
                our.isEncrypted == their.isEncrypted, our.name.count == their.name.count
            else { return false }
            for offset in 0..<our.name.count
            where self.bytes[our.name.lowerBound + offset] != other.bytes[their.name.lowerBound + offset] {
                return false
            }
        }
        return theirs.nextTrusted() == nil
    }
}
