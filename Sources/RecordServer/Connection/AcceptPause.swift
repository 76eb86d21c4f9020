import Logging
import NIOCore

/// The pause of a listener while the system has no room for another connection, such as a file
/// descriptor.
///
/// It accepts nobody for a moment, instead of trying again at once: connections wait in the
/// kernel's queue, and the event loop serves the others.
enum AcceptPause {
    private static let pause = TimeAmount.milliseconds(100)
    /// Between two lines of the log.
    private static let lineInterval = TimeAmount.seconds(60)

    static func handler(logger: Logger) -> AcceptBackoffHandler {
        var nextLine: NIODeadline?
        return AcceptBackoffHandler(shouldForwardIOErrorCaught: false) { error in
            let now = NIODeadline.now()
            guard nextLine.map({ now >= $0 }) ?? true else { return Self.pause }
            nextLine = now + Self.lineInterval
            logger.warning(
                "connections wait: the system has no room for another",
                metadata: [LogKeys.errno: .stringConvertible(error.errnoCode)]
            )
            return Self.pause
        }
    }
}
