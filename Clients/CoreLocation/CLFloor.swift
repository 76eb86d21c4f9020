public import Foundation

/// The floor of a building on which a receiver is.
///
/// Only Apple's receivers make floors. The type is here for code that names it.
///
/// - Source: Apple's `CLFloor`.
open class CLFloor: NSObject, NSSecureCoding, NSCopying {
    /// The floor, counted from the ground floor, 0.
    public let level: Int

    private static let levelKey = "CLFloorLevel"

    /// Reads an archived floor.
    public required init?(coder: NSCoder) {
        self.level = coder.decodeInteger(forKey: Self.levelKey)
        super.init()
    }

    /// Writes the floor into an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(self.level, forKey: Self.levelKey)
    }

    /// Always `true`: floors can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the floor itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

// SAFETY: the stored property is a constant value.
extension CLFloor: @unchecked Sendable {}
