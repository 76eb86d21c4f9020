import NIOCore
import WireProtocol

/// The timeout of a client that takes nothing of its pending data.
///
/// The connection ends when the timer fires.
struct SlowReaderTimer {
    private var scheduled: Scheduled<Void>?

    /// Starts the timer; keeps a running one.
    mutating func start(ending connection: Connection) {
        guard self.scheduled == nil, connection.isOpen else { return }
        let timeout = connection.shared.slowReaderTimeout
        self.scheduled = connection.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
            connection.close(.slowReader)
        }
    }

    /// The client took some data, or none is pending.
    mutating func stop() {
        guard let scheduled else { return }
        scheduled.cancel()
        self.scheduled = nil
    }
}
