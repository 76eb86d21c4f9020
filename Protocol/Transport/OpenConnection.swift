/// The streams and windows of a connection after its handshake.
///
/// Every function of an extension is the rule of one event. The machine around it decides in which
/// states the rule applies.
@usableFromInline
package struct OpenConnection<Side: ConnectionSide> {
    /// Streams that have not ended.
    @usableFromInline package var streams = StreamTable<Side.Stream>()
    /// The peer's credit for frames that count toward the connection.
    @usableFromInline package var sending: SendWindow
    /// This side's credit for the same frames.
    @usableFromInline package var receiving: ReceiveWindow
    /// Whether no more streams are opened, and the connection closes with the last that is open.
    @usableFromInline package var isDraining = false
    /// State of this side only.
    @usableFromInline package var side: Side

    @inlinable
    package init(side: Side, sending: SendWindow, receiving: ReceiveWindow) {
        self.side = side
        self.sending = sending
        self.receiving = receiving
    }

    /// Whether the last stream of a drain has ended.
    @inlinable package var isDrained: Bool { self.isDraining && self.streams.isEmpty }
}
