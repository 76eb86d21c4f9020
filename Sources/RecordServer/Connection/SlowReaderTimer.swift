import NIOCore
import WireProtocol

/// Counts the time in which a client takes nothing of something that waits for it.
///
/// The connection ends when that time is over.
struct SlowReaderTimer {
    private var scheduled: Scheduled<Void>?

    /// Starts to count; goes on counting when called again.
    mutating func start(ending connection: Connection) {
        guard self.scheduled == nil, connection.isOpen else { return }
        let timeout = connection.shared.slowReaderTimeout
        self.scheduled = connection.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
            connection.close(.slowReader)
        }
    }

    /// The client took something, or nothing waits any more.
    mutating func stop() {
        guard let scheduled else { return }
        scheduled.cancel()
        self.scheduled = nil
    }
}
