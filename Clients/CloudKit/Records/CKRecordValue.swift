public import CoreLocation
public import Foundation

/// A type of values of fields, in generic code.
///
/// - Source: Apple's `CKRecordValueProtocol`.
public protocol CKRecordValueProtocol {}

/// A type of values of fields.
///
/// On Apple's systems only Objective-C classes conform. Here Swift's own types do too, because a
/// cast does not bridge them.
///
/// - Source: Apple's `__CKRecordObjCValue`.
public protocol __CKRecordObjCValue: CKRecordValueProtocol, CustomStringConvertible {}

/// A type of values of fields.
public typealias CKRecordValue = __CKRecordObjCValue

extension String: __CKRecordObjCValue {}
extension Date: __CKRecordObjCValue {}
extension Data: __CKRecordObjCValue {}
extension Bool: __CKRecordObjCValue {}
extension Double: __CKRecordObjCValue {}
extension Float: __CKRecordObjCValue {}
extension CGFloat: __CKRecordObjCValue {}
extension Decimal: __CKRecordObjCValue {}
extension Int: __CKRecordObjCValue {}
extension Int8: __CKRecordObjCValue {}
extension Int16: __CKRecordObjCValue {}
extension Int32: __CKRecordObjCValue {}
extension Int64: __CKRecordObjCValue {}
extension UInt: __CKRecordObjCValue {}
extension UInt8: __CKRecordObjCValue {}
extension UInt16: __CKRecordObjCValue {}
extension UInt32: __CKRecordObjCValue {}
extension UInt64: __CKRecordObjCValue {}
extension Array: CKRecordValueProtocol where Element: CKRecordValueProtocol {}
extension Array: __CKRecordObjCValue where Element: CKRecordValueProtocol {}

extension NSString: __CKRecordObjCValue {}
extension NSDate: __CKRecordObjCValue {}
extension NSData: __CKRecordObjCValue {}
extension NSNumber: __CKRecordObjCValue {}
extension NSArray: __CKRecordObjCValue {}
extension CKReference: __CKRecordObjCValue {}
extension CKAsset: __CKRecordObjCValue {}
extension CLLocation: __CKRecordObjCValue {}
