import RecordModel
import RecordStore

/// How the type of a field stands in its row: what values have in `type`, how a schema spells it in `declared`.
enum FieldColumn {
    /// In `type`: values of assets have no place in this version.
    static let assetType: Int64 = 0

    private static let plain: Int64 = 0
    private static let number: Int64 = 1
    private static let pinnedNumber: Int64 = 2
    private static let asset: Int64 = 3
    private static let assetList: Int64 = 4

    static func columns(of type: DeclaredType) -> (type: Int64, declared: Int64) {
        switch type {
        case .field(let type): (Int64(type.rawValue), self.plain)
        case .number(nil): (Int64(FieldType.double.rawValue), self.number)
        case .number(let preferred?): (Int64(preferred.rawValue), self.pinnedNumber)
        case .asset(isList: false): (self.assetType, self.asset)
        case .asset(isList: true): (self.assetType, self.assetList)
        }
    }

    /// `nil`: nothing that this version wrote.
    static func declaredType(type: Int64, declared: Int64) -> DeclaredType? {
        switch declared {
        case self.asset: return .asset(isList: false)
        case self.assetList: return .asset(isList: true)
        case self.number: return .number(preferred: nil)
        default:
            guard let type = FieldType(rawValue: UInt8(truncatingIfNeeded: type)) else { return nil }
            return declared == self.pinnedNumber ? .number(preferred: type) : .field(type)
        }
    }
}
