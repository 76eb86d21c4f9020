import Foundation
import RecordModel

extension FieldTable.Entry {
    /// A field of the server's.
    init(_ slice: FieldSlice, in body: RecordBody) {
        self.init(content: .encoded(slice, in: body), isEncrypted: slice.isEncrypted)
    }

    /// Whether two objects of the same value differ, so that there must be only one.
    var isComparedByIdentity: Bool {
        switch self.content {
        case .value(let value): FieldType.comparedByIdentity.contains(value.type)
        case .encoded(let slice, _): FieldType.comparedByIdentity.contains(slice.type)
        case .refused: false
        }
    }

    /// Returns the field decoded, with the object that every look finds.
    func decoded(in zone: CKRecordZoneID) -> FieldTable.Entry {
        guard self.kept == nil, case .success(let value) = self.value else { return self }
        let object = self.isComparedByIdentity ? value.object(in: zone) : nil
        return FieldTable.Entry(
            content: .value(value),
            isEncrypted: self.isEncrypted,
            kept: object.map { FieldTable.KeptObject(object: $0) }
        )
    }

    /// Reads an object that was set.
    init(of object: any __CKRecordObjCValue, encrypted: Bool, in zone: ZoneID) {
        let content = Self.content(of: object, encrypted: encrypted, in: zone)
        let kept = Self.keptObject(object, for: content)
        self.init(
            content: content,
            isEncrypted: encrypted,
            kept: kept.map { FieldTable.KeptObject(object: $0) }
        )
    }

    private static func content(
        of object: any __CKRecordObjCValue,
        encrypted: Bool,
        in zone: ZoneID
    ) -> Content {
        guard let convertible = object as? any FieldValueConvertible else {
            return .refused(.type(of: object))
        }
        do {
            let value = try convertible.fieldValue(in: zone)
            if encrypted, value.holdsAssets { return .refused(ValueRefusal("An asset can't be encrypted")) }
            if encrypted, value.type == .reference || value.type == .referenceList {
                return .refused(ValueRefusal("A reference can't be encrypted"))
            }
            return .value(value)
        } catch {
            return .refused(error)
        }
    }

    /// Returns the object itself if it can't change later and is more than its value.
    private static func keptObject(
        _ object: any __CKRecordObjCValue,
        for content: Content
    ) -> (any __CKRecordObjCValue)? {
        guard case .value(let value) = content else { return object }
        switch value.type {
        case .location, .reference, .asset: return object
        case .locationList, .assetList: return (object as? NSArray)?.copy() as? NSArray
        default: return nil
        }
    }
}

extension FieldType {
    /// The types of values with objects that differ even if the values are the same.
    static let comparedByIdentity: [FieldType] = [.location, .locationList, .asset, .assetList]
}
