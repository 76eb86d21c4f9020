import RecordModel
import StorageContract

/// Whether an installation has a record, by how far it has followed the zone.
struct DeliveryRule {
    /// The position from which a reader of the zone has the record as it is: of its last change, or of
    /// its arrival in the reader's share if that was later.
    let position: Int64
    /// Tokens of the user from before this position are of no use.
    let expiredThrough: Int64

    typealias State = RecordExplanation.Delivery.State

    func state(_ seen: SeenPosition?) -> State {
        guard let seen else { return .neverCame }
        let known = self.known(seen)
        if self.position <= min(seen.skipped, known.sent) { return .passedOver }
        if self.position <= known.position { return .hasIt }
        return self.position <= known.sent ? .wasSent : .isBehind
    }

    /// The part of a row that counts: nothing up to a position from before the user's tokens expired.
    func known(_ seen: SeenPosition) -> (position: Int64, sent: Int64) {
        (
            seen.position < self.expiredThrough ? 0 : seen.position,
            seen.sent < self.expiredThrough ? 0 : seen.sent
        )
    }
}
