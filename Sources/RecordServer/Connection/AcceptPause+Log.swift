import FileIO
import Logging
import NIOCore

extension AcceptPause {
    /// Between two lines of the log.
    private static let lineInterval = TimeAmount.seconds(60)

    /// A pause that tells the operator.
    static func handler(logger: Logger) -> AcceptPause {
        var nextLine: NIODeadline?
        return AcceptPause { error in
            let now = NIODeadline.now()
            guard nextLine.map({ now >= $0 }) ?? true else { return }
            nextLine = now + Self.lineInterval
            logger.warning(
                "connections wait: the system has no room for another",
                metadata: [LogKeys.errno: .stringConvertible(error.errnoCode)]
            )
        }
    }
}
