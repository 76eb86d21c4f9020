/// The 16 bytes by which a client names its installation.
///
/// They lie in place: a requester is copied often, and an array would be counted each time.
package struct InstallationID: Hashable, Sendable {
    private let first, second: UInt64

    /// Fails unless there are 16 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.first = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        self.second = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    package var bytes: [UInt8] {
        [self.first, self.second].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) }
        }
    }
}
