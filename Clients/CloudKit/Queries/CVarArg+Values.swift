public import CoreLocation
public import Foundation

/// A value that may follow a format: on Apple's systems every object may.
///
/// Not to be used from outside. `NSObject` itself can't conform: Foundation would print `NSString`
/// by calling itself.
public protocol _CKFormatArgument: _CVarArgObject {}

extension _CKFormatArgument {
    /// What Foundation prints for `%@`.
    public var _cVarArgObject: any CVarArg { NSString(string: "\(self)") }
}

extension _CKFormatArgument {
    /// The address of an equal object that is never released, because a C list of arguments owns
    /// nothing.
    ///
    /// Swift itself uses `_cVarArgObject` instead.
    public var _cVarArgEncoding: [Int] {
        // SAFETY: only the number of the address is passed on.
        [Int(bitPattern: Unmanaged.passRetained(self as AnyObject).toOpaque())]
    }
}

extension NSNumber: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension NSDate: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension NSData: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension NSArray: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension NSDictionary: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension NSSet: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension NSNull: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension NSUUID: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension NSURL: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension Date: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension Data: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension URL: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension Array: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension Set: @retroactive CVarArg, @retroactive _CVarArgObject, _CKFormatArgument {}
extension CLLocation: _CKFormatArgument {}
extension CKRecord: _CKFormatArgument {}
extension CKRecordID: _CKFormatArgument {}
extension CKReference: _CKFormatArgument {}
