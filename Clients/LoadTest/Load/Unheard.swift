/// Why a save was not heard of.
struct Unheard: Error, Hashable, Sendable {
    var reason: String
    /// The save was acknowledged, and so should have been heard of.
    var isViolation: Bool
}
