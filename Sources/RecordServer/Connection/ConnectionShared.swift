import Logging
import NIOCore

/// The parts that every connection of a server uses: limits, the log, metrics, the event loops.
final class ConnectionShared: Sendable {
    let bounds: ConnectionBounds
    /// How long a client may take nothing while data waits for it.
    let slowReaderTimeout: TimeAmount
    let faults: FaultLog
    let metrics: ServerMetrics
    let loops: ServedLoops
    /// `nil` in production.
    let gate: (any RequestGate)?

    init(
        bounds: ConnectionBounds,
        slowReaderTimeout: TimeAmount,
        faults: FaultLog,
        metrics: ServerMetrics,
        loops: ServedLoops,
        gate: (any RequestGate)?
    ) {
        self.bounds = bounds
        self.slowReaderTimeout = slowReaderTimeout
        self.faults = faults
        self.metrics = metrics
        self.loops = loops
        self.gate = gate
    }

    var logger: Logger { self.faults.logger }
}
