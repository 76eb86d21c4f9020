package import NIOCore
package import RecordModel

/// An encoded notification without what differs from one listener to another: its number, and
/// whether others were left out.
///
/// So what is said to many is encoded once, and written with a copy of its bytes.
package struct SharedNotification: Sendable {
    /// What number and mark take at most.
    package static let listenerBytesMax = 13

    private let bytes: ByteBuffer

    /// `number` and `isCoalesced` of the notification don't count.
    package init(_ notification: Notification) {
        var shared = notification
        shared.number = 0
        shared.isCoalesced = false
        self.bytes = shared.encoded()
    }

    package var count: Int { self.bytes.readableBytes }

    /// Appends the message as one listener gets it.
    package func encode(number: UInt64, isCoalesced: Bool, into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.Notification.number, number)
        buffer.writeImmutableBuffer(self.bytes)
        buffer.writeField(Proto.Notification.coalesced, isCoalesced)
    }
}
