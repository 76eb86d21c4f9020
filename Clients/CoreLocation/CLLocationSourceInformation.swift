public import Foundation

/// The kind of source that made a location.
///
/// - Source: Apple's `CLLocationSourceInformation`.
open class CLLocationSourceInformation: NSObject, NSSecureCoding, NSCopying {
    /// Whether software made the location up, such as a debugger.
    public let isSimulatedBySoftware: Bool
    /// Whether an accessory measured the location.
    public let isProducedByAccessory: Bool

    private static let softwareKey = "CLSimulatedBySoftware"
    private static let accessoryKey = "CLProducedByAccessory"

    /// Creates the information.
    ///
    /// - Parameters:
    ///   - isSoftware: Whether software made the location up.
    ///   - isAccessory: Whether an accessory measured it.
    public init(softwareSimulationState isSoftware: Bool, andExternalAccessoryState isAccessory: Bool) {
        self.isSimulatedBySoftware = isSoftware
        self.isProducedByAccessory = isAccessory
        super.init()
    }

    /// Reads archived information.
    public required init?(coder: NSCoder) {
        self.isSimulatedBySoftware = coder.decodeBool(forKey: Self.softwareKey)
        self.isProducedByAccessory = coder.decodeBool(forKey: Self.accessoryKey)
        super.init()
    }

    /// Writes the information into an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(self.isSimulatedBySoftware, forKey: Self.softwareKey)
        coder.encode(self.isProducedByAccessory, forKey: Self.accessoryKey)
    }

    /// Always `true`: the information can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the information itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

// SAFETY: every stored property is a constant value.
extension CLLocationSourceInformation: @unchecked Sendable {}
