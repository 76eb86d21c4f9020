import Foundation

/// The clock of everything that is served.
enum SystemTime {
    /// Milliseconds since 1970.
    @Sendable
    static func milliseconds() -> Int64 {
        Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down))
    }
}
