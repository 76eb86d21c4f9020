/// The progress of a client in the feed of a zone, as its requests show.
///
/// A client that presents a token at a position has everything up to it. A page that was sent is no
/// such proof, because its connection may have broken.
package struct SeenPosition: Hashable, Sendable {
    /// Everything up to here is with the client; 0 while its first snapshot is not complete.
    var position: Int64
    /// The pages that were sent reach up to here; 0 while the first snapshot is not complete.
    var sent: Int64
    /// The client passed over everything up to here with a token for now; 0 if nothing.
    var skipped: Int64
    /// When the client came last, milliseconds since 1970.
    var atMilliseconds: Int64

    package init(position: Int64, sent: Int64, skipped: Int64 = 0, atMilliseconds: Int64) {
        self.position = position
        self.sent = sent
        self.skipped = skipped
        self.atMilliseconds = atMilliseconds
    }

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

/// The progress that one page of a zone's feed shows of its client.
package struct FeedProgress: Hashable, Sendable {
    /// The zone of the records.
    package var zone: ZoneKey
    /// The position up to which the client has everything, by the token that it presented.
    package var position: Int64
    /// The position up to which it has everything when the page arrives.
    package var sent: Int64
    package var skipped: Int64
}

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
