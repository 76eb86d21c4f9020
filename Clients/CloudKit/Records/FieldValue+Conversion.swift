import CoreLocation
import Foundation
import RecordModel

/// The reason why a value can't be saved, as a text for people.
struct ValueRefusal: Error, Hashable {
    var code: CKError.Code = .invalidArguments
    var text: String

    init(_ text: String, code: CKError.Code = .invalidArguments) {
        self.code = code
        self.text = text
    }

    static func fieldName(_ key: String) -> ValueRefusal {
        ValueRefusal(
            "Field '\(key)': the name of a field is an ASCII letter, then letters, digits and '_', at most "
                + "\(Bounds.nameBytesMax)"
        )
    }

    static func type(of value: Any) -> ValueRefusal {
        ValueRefusal("A field can't hold a value of the type \(Swift.type(of: value))")
    }
}

/// A type of values that fields can have.
///
/// The conformance depends on the value's own type. A cast would not: `NSNumber(value: 1) as? Bool`
/// succeeds.
protocol FieldValueConvertible {
    /// Returns the value as the server stores it; references into `zone`, the record's, have no
    /// zone.
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue
}

extension FieldValueConvertible where Self: BinaryInteger {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        guard let integer = Int64(exactly: self) else {
            throw ValueRefusal("\(self) does not fit into a signed integer of 64 bits")
        }
        return .int64(integer)
    }
}

extension Int: FieldValueConvertible {}
extension Int8: FieldValueConvertible {}
extension Int16: FieldValueConvertible {}
extension Int32: FieldValueConvertible {}
extension Int64: FieldValueConvertible {}
extension UInt: FieldValueConvertible {}
extension UInt8: FieldValueConvertible {}
extension UInt16: FieldValueConvertible {}
extension UInt32: FieldValueConvertible {}
extension UInt64: FieldValueConvertible {}

extension Bool: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue { .int64(self ? 1 : 0) }
}

extension Double: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue { .double(try self.checkedFinite()) }

    func checkedFinite() throws(ValueRefusal) -> Double {
        guard self.isFinite else { throw ValueRefusal("\(self) is not a finite number") }
        return self
    }
}

extension CGFloat: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        .double(try Double(self).checkedFinite())
    }
}

extension Decimal: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        .double(try NSDecimalNumber(decimal: self).doubleValue.checkedFinite())
    }
}

extension Float: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        .double(try Double(self).checkedFinite())
    }
}

extension NSNumber: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        // "f" and "d" are C's float and double; all others are integers, including Bool ("c").
        switch UInt8(bitPattern: self.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): return .double(try self.doubleValue.checkedFinite())
        case UInt8(ascii: "Q"): return try self.uint64Value.fieldValue(in: zone)
        default: return .int64(self.int64Value)
        }
    }
}

extension String: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue { .string(self) }
}

extension NSString: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue { .string(String(self)) }
}

extension Date: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        .timestamp(try self.timeIntervalSinceReferenceDate.checkedFinite())
    }
}

extension NSDate: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        .timestamp(try self.timeIntervalSinceReferenceDate.checkedFinite())
    }
}

extension Data: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue { .bytes(Array(self)) }
}

extension NSData: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        .bytes(Array(Data(referencing: self)))
    }
}

extension CKReference: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        let target = self.recordID.model
        return .reference(
            Reference(
                recordName: target.recordName,
                zone: target.zone == zone ? nil : target.zone,
                action: self.action == .deleteSelf ? .deleteSelf : .none
            )
        )
    }
}

extension CKAsset: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        guard self.isLocal, let url = self.fileURL, !url.isFileURL else { return .asset(self.valueToSend) }
        throw ValueRefusal("An asset needs the URL of a file, which '\(url)' is not")
    }
}

extension CLLocation: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        guard CLLocationCoordinate2DIsValid(self.coordinate) else {
            throw ValueRefusal("A location is off the globe")
        }
        var location = Location(latitude: self.coordinate.latitude, longitude: self.coordinate.longitude)
        location.altitude = try self.altitude.checkedFinite()
        location.horizontalAccuracy = try self.horizontalAccuracy.checkedFinite()
        location.verticalAccuracy = try self.verticalAccuracy.checkedFinite()
        location.course = try self.course.checkedFinite()
        location.speed = try self.speed.checkedFinite()
        location.timestamp = try self.timestamp.timeIntervalSinceReferenceDate.checkedFinite()
        return .location(location)
    }
}

extension Array: FieldValueConvertible where Element: CKRecordValueProtocol {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        if let strings = self as? [String] { return strings.isEmpty ? .emptyList : .stringList(strings) }
        return try FieldValue.list(self, in: zone)
    }
}

extension NSArray: FieldValueConvertible {
    func fieldValue(in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        try FieldValue.list((0..<self.count).map { self.object(at: $0) }, in: zone)
    }
}
