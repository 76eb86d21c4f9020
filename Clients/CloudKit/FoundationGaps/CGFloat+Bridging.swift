public import Foundation

/// Numbers cast to `CGFloat`, as on Apple's systems: Foundation on Linux bridges all other types of
/// numbers.
extension CGFloat: @retroactive _ObjectiveCBridgeable {
    /// Returns the number as an object.
    public func _bridgeToObjectiveC() -> NSNumber { NSNumber(value: Double(self)) }

    /// Takes the value of an object.
    public static func _forceBridgeFromObjectiveC(_ number: NSNumber, result: inout CGFloat?) {
        result = CGFloat(number.doubleValue)
    }

    /// Takes the value of an object if a double can have it.
    public static func _conditionallyBridgeFromObjectiveC(_ number: NSNumber, result: inout CGFloat?) -> Bool
    {
        result = (number as? Double).map { CGFloat($0) }
        return result != nil
    }

    /// Takes the value of an object; 0 if there is none.
    public static func _unconditionallyBridgeFromObjectiveC(_ number: NSNumber?) -> CGFloat {
        CGFloat(number?.doubleValue ?? 0)
    }
}
