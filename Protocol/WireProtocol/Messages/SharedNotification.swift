package import NIOCore
package import RecordModel

/// An encoded notification without the parts that differ between listeners: its number, and whether
/// others were omitted.
///
/// So a notification for many listeners is encoded once, and sent as a copy of its bytes.
package struct SharedNotification: Sendable {
    /// Maximum bytes of number and mark.
    package static let listenerBytesMax = 13

    private let bytes: ByteBuffer

    /// `number` and `isCoalesced` of the notification are ignored.
    package init(_ notification: Notification) {
        var shared = notification
        shared.number = 0
        shared.isCoalesced = false
        self.bytes = shared.encoded()
    }

    package var count: Int { self.bytes.readableBytes }

    /// Appends the message for one listener.
    package func encode(number: UInt64, isCoalesced: Bool, into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.Notification.number, number)
        buffer.writeImmutableBuffer(self.bytes)
        buffer.writeField(Proto.Notification.coalesced, isCoalesced)
    }
}
