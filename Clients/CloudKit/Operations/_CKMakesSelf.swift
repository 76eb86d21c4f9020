private import CloudKitRuntime
public import Foundation

/// A class; its extensions may call `Self()`.
///
/// Not to be used from outside. The compiler takes `init()` of the protocol where that of the class is
/// not `required`. A required one would be an error in published subclasses: `override init()` lacks
/// the word `required` there, and some have no `init()` at all.
public protocol _CKMakesSelf {}

extension _CKMakesSelf where Self: NSObject {
    /// Makes an instance of the class with its own `init()`.
    public init() { self = Self.madeByDefault() }
}

extension NSObject {
    /// Makes an instance of the class that this is called on, with its own `init()`.
    ///
    /// Each subclass of `NSObject` has an `init()` in its table of methods, required or not, and the
    /// runtime finds it there. A subclass that has initialisers of its own and no `init()` has the
    /// compiler's trap, "Use of unimplemented initializer 'init()'", exactly as on Apple's systems.
    static func madeByDefault() -> Self {
        let object = tidemark_make_by_default(UInt(bitPattern: ObjectIdentifier(self)))
        // SAFETY: the initialiser's one reference to the new instance is taken over here.
        let made = Unmanaged<NSObject>.fromOpaque(object).takeRetainedValue()
        guard let made = made as? Self else { preconditionFailure("\(self).init() made another class") }
        return made
    }
}

extension CKOperation: _CKMakesSelf {}
extension CKOperationConfiguration: _CKMakesSelf {}
extension CKOperationGroup: _CKMakesSelf {}
extension CKFetchRecordZoneChangesConfiguration: _CKMakesSelf {}
extension CKNotificationInfo: _CKMakesSelf {}
