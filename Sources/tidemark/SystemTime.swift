import Foundation

/// The clock of the server.
enum SystemTime {
    /// Milliseconds since 1970.
    @Sendable
    static func milliseconds() -> Int64 {
        Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down))
    }
}
