import RecordModel

/// The encoding of a field's type in its row: as `type` and as `declared`.
///
/// `type` is the type that values have, `declared` is how a schema spells it.
package enum FieldColumn {
    private static let plain: Int64 = 0
    private static let number: Int64 = 1
    private static let pinnedNumber: Int64 = 2

    package static func columns(of type: DeclaredType) -> (type: Int64, declared: Int64) {
        switch type {
        case .field(let type): (Int64(type.rawValue), self.plain)
        case .number(nil): (Int64(FieldType.double.rawValue), self.number)
        case .number(let preferred?): (Int64(preferred.rawValue), self.pinnedNumber)
        }
    }

    /// Whether a schema calls the field `NUMBER` and no more: its values are doubles and integers.
    package static func isNumber(declared: Int64) -> Bool { declared == self.number }

    /// `nil` if no version wrote it.
    package static func declaredType(type: Int64, declared: Int64) -> DeclaredType? {
        switch declared {
        case self.number: return .number(preferred: nil)
        default:
            guard let type = FieldType(rawValue: UInt8(truncatingIfNeeded: type)) else { return nil }
            return declared == self.pinnedNumber ? .number(preferred: type) : .field(type)
        }
    }
}
