import WireProtocol

/// What a server did that the protocol forbids.
struct Violation: Error, Hashable {
    /// The reason for the server.
    var reason: CloseReason
    /// The error for the callers.
    var error: WireError

    static let frameUnexpected = Violation(
        reason: .frameKindUnexpected,
        error: WireError(.outOfBounds, field: "kind")
    )
    static let streamUnknown = Violation(
        reason: .streamInvalid,
        error: WireError(.outOfBounds, field: "stream")
    )
    static let creditExceeded = Violation(
        reason: .creditExceeded,
        error: WireError(.outOfBounds, field: "items")
    )
    static let creditInvalid = Violation(
        reason: .creditInvalid,
        error: WireError(.outOfBounds, field: "Credit.bytes")
    )
    static let itemUnknown = Violation(
        reason: .messageMalformed,
        error: WireError(.outOfBounds, field: "Item.index")
    )

    static let responseTooLarge = Violation(
        reason: .messageMalformed,
        error: WireError(.outOfBounds, field: "Items.items")
    )

    static let notificationOutOfTurn = Violation(
        reason: .messageMalformed,
        error: WireError(.outOfBounds, field: "Notification.number")
    )

    static let assetDataOutOfTurn = Violation(
        reason: .messageMalformed,
        error: WireError(.outOfBounds, field: "asset_data.offset")
    )
    static let offsetsMisfit = Violation(
        reason: .messageMalformed,
        error: WireError(.outOfBounds, field: "AssetOffsets.offsets")
    )
    static let progressMisfit = Violation(
        reason: .messageMalformed,
        error: WireError(.outOfBounds, field: "Progress.done_bytes")
    )
    static let transferUnfinished = Violation(
        reason: .messageMalformed,
        error: WireError(.outOfBounds, field: "End.failure")
    )

    /// Bytes that are not a frame, or a payload that is not its message.
    init(_ error: WireError) {
        self.init(reason: error.closeReason, error: error)
    }

    private init(reason: CloseReason, error: WireError) {
        self.reason = reason
        self.error = error
    }
}
