import StorageContract

/// Names an installation, or its feed of a zone.
package struct SeenBy: Hashable, Sendable {
    package var user: String
    /// 16 bytes.
    package var installation: [UInt8]

    /// `nil` if the client cannot be identified: it is not signed in, or named no installation.
    package init?(user: String?, installation: [UInt8]) {
        guard let user, !installation.isEmpty else { return nil }
        self.user = user
        self.installation = installation
    }
}

extension SeenPosition {
    /// Adds the progress that a later request shows; a position never goes back.
    mutating func advance(to other: SeenPosition) {
        self.atMilliseconds = max(self.atMilliseconds, other.atMilliseconds)
        if other.skipped <= self.position, self.skipped <= other.position {
            // The two pieces of the feed touch.
            self.skipped = min(self.skipped, other.skipped)
            self.position = max(self.position, other.position)
            self.sent = max(self.sent, other.sent)
        } else if other.position > self.position {
            // There is a gap between them, and a row has room for one.
            self.skipped = other.skipped
            self.position = other.position
            self.sent = other.sent
        }
    }
}
