/// The progress of a client in the feed of a zone, as its requests show.
///
/// A client that presents a token at a position has everything up to it. A page that was sent is no
/// such proof, because its connection may have broken.
package struct SeenPosition: Hashable, Sendable {
    /// Everything up to here is with the client; 0 while its first snapshot is not complete.
    package var position: Int64
    /// The pages that were sent reach up to here; 0 while the first snapshot is not complete.
    package var sent: Int64
    /// The client passed over everything up to here with a token for now; 0 if nothing.
    package var skipped: Int64
    /// When the client came last, milliseconds since 1970.
    package var atMilliseconds: Int64

    package init(position: Int64, sent: Int64, skipped: Int64 = 0, atMilliseconds: Int64) {
        self.position = position
        self.sent = sent
        self.skipped = skipped
        self.atMilliseconds = atMilliseconds
    }
}

/// Names the feed of a zone that an installation of a user reads.
package struct SeenKey: Hashable, Sendable {
    package let zone: ZoneKey
    package let user: String
    package let installation: [UInt8]

    package init(zone: ZoneKey, user: String, installation: [UInt8]) {
        self.zone = zone
        self.user = user
        self.installation = installation
    }
}
