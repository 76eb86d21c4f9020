public import Foundation

/// The way in which class factories make an instance of the class that they are called on.
///
/// Not to be used from outside.
///
/// `CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()` returns `Self`, so it must call
/// `init()` of a subclass that it does not know. Swift allows that for a `required` initialiser
/// only. A `required init()` would break published subclasses twice: `override init()` would be an
/// error, and so would having no `init()` at all.
///
/// But `init()` belongs to `NSObject`, so every subclass has it in the same slot of its method
/// table, required or not. This class makes that slot callable on any metatype. A subclass that has
/// initialisers of its own and no `init()` has the compiler's trap there, "Use of unimplemented
/// initializer 'init()'", exactly as on Apple's systems.
///
/// The class is open, because an optimiser that sees the whole module would otherwise know all of
/// its subclasses, and call this `init()` instead of the one in the table.
open class _CKMadeByDefault: NSObject {
    /// Fills the slot.
    public required override init() { super.init() }

    /// Makes an instance of a class with its own `init()`.
    static func make<Made: NSObject>(_ type: Made.Type) -> Made {
        // SAFETY: only slots of the table of methods that `NSObject` defines are used through the
        // wrong metatype; both classes inherit them from it, at the same place. The instance is of
        // class `type`, whose `init()` made it.
        let slot = unsafeBitCast(type as AnyClass, to: _CKMadeByDefault.Type.self)
        // SAFETY: as above.
        return unsafeDowncast(slot.init() as AnyObject, to: type)
    }
}

/// A class whose extensions may call `Self()`.
///
/// Not to be used from outside. The compiler takes `init()` of the protocol where that of the class is
/// not `required`.
public protocol _CKMakesSelf {}

extension _CKMakesSelf where Self: NSObject {
    /// Makes an instance of the class with its own `init()`.
    public init() { self = _CKMadeByDefault.make(Self.self) }
}

extension CKOperation: _CKMakesSelf {}
extension CKOperationConfiguration: _CKMakesSelf {}
extension CKOperationGroup: _CKMakesSelf {}
extension CKFetchRecordZoneChangesConfiguration: _CKMakesSelf {}
extension CKNotificationInfo: _CKMakesSelf {}
