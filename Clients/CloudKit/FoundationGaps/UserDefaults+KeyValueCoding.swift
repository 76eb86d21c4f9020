public import Foundation

// Key-value coding of Apple's systems. It is disfavoured, so that a Foundation that has it comes
// first.
extension UserDefaults {
    /// Sets the value of a key, as `set(_:forKey:)` does.
    ///
    /// - Parameters:
    ///   - value: A property list. If `nil`, the value is removed.
    ///   - key: The key.
    @_disfavoredOverload
    public func setValue(_ value: Any?, forKey key: String) { self.set(value, forKey: key) }

    /// Returns the value of a key, as `object(forKey:)` does.
    @_disfavoredOverload
    public func value(forKey key: String) -> Any? { self.object(forKey: key) }
}
