public import Foundation

// Makes `error as? CKError` work where `error` is an `NSError`, as it does on Apple's systems.
extension CKError: _ObjectiveCBridgeable {
    /// The class that carries the error.
    public typealias _ObjectiveCType = NSError

    /// Returns the error as Foundation knows it.
    public func _bridgeToObjectiveC() -> NSError { self._nsError }

    /// Takes an error of the domain `CKErrorDomain`; for any other, ends the program, as a forced
    /// cast does.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CKError?) {
        precondition(source.domain == CKErrorDomain, "an error of another domain is not a CKError")
        result = CKError(_nsError: source)
    }

    /// Takes an error of the domain `CKErrorDomain` and returns whether it was one.
    @discardableResult
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout CKError?) -> Bool {
        result = source.domain == CKErrorDomain ? CKError(_nsError: source) : nil
        return result != nil
    }

    /// Takes an error of the domain `CKErrorDomain`; returns `internalError` if there is none.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CKError {
        source.map { CKError(_nsError: $0) } ?? CKError(.internalError)
    }
}
