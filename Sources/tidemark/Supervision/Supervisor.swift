import Foundation
import Logging
import RecordServer
import Synchronization

/// The program that started the server and follows its state, if there is one: systemd, or another
/// that sets `NOTIFY_SOCKET`.
final class Supervisor: Sendable {
    /// The interval at which the supervisor expects a heartbeat; `nil` if it expects none.
    let watchdogInterval: Duration?
    private let socket: NotifySocket?
    private let logger: Logger
    private let state = Mutex(State())

    fileprivate struct State {
        /// Between `ready` and `stopping`.
        var isServing = false
        /// A supervisor that is gone is worth one line, not one a minute.
        var hasFailed = false
    }

    /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    ///
    /// A value that cannot be used is logged and has no effect, because the server works without it.
    init(environment: [String: String], process: Int32 = getpid(), logger: Logger) {
        self.logger = logger
        let address = environment["NOTIFY_SOCKET"] ?? ""
        do throws(NotifySocket.Failure) {
            self.socket = address.isEmpty ? nil : try NotifySocket(address)
        } catch {
            self.socket = nil
            Self.warn(of: error, logger)
        }
        self.watchdogInterval =
            self.socket == nil ? nil : Self.watchdogInterval(environment, process: process, logger)
    }

    /// Sends a notice.
    ///
    /// A reload before `ready` or after `stopping` is not sent, because its end would say that the
    /// server accepts connections.
    func tell(_ notice: SupervisorNotice) {
        guard let socket, self.state.withLock({ $0.admits(notice) }) else { return }
        do throws(NotifySocket.Failure) {
            try socket.send(notice.text)
            self.state.withLock { $0.hasFailed = false }
        } catch {
            let isNew = self.state.withLock { state in
                defer { state.hasFailed = true }
                return !state.hasFailed
            }
            if isNew { Self.warn(of: error, self.logger) }
        }
    }

    private static func watchdogInterval(
        _ environment: [String: String],
        process: Int32,
        _ logger: Logger
    ) -> Duration? {
        guard let text = environment["WATCHDOG_USEC"], !text.isEmpty else { return nil }
        // The variables of another process, such as the shell that started this one.
        if let other = environment["WATCHDOG_PID"], other != "\(process)" { return nil }
        guard let microseconds = Int64(text), microseconds > 0, microseconds < Int64.max / 2_000 else {
            logger.warning(
                "the supervisor's watchdog is not served",
                metadata: [LogKeys.variable: "WATCHDOG_USEC", LogKeys.reason: "'\(text)' is no time"]
            )
            return nil
        }
        return .microseconds(microseconds)
    }

    private static func warn(of failure: NotifySocket.Failure, _ logger: Logger) {
        let reason =
            switch failure {
            case .unsupportedAddress: "it is neither a path nor an abstract name that begins with '@'"
            case .addressTooLong: "it is too long for the address of a socket"
            case .system(let code): String(cString: strerror(code))
            }
        logger.warning(
            "the supervisor cannot be told of the server's state",
            metadata: [LogKeys.variable: "NOTIFY_SOCKET", LogKeys.reason: "\(reason)"]
        )
    }
}

extension Supervisor.State {
    fileprivate mutating func admits(_ notice: SupervisorNotice) -> Bool {
        switch notice {
        case .ready: self.isServing = true
        case .stopping: self.isServing = false
        case .reloading, .reloaded: return self.isServing
        case .opening, .alive: break
        }
        return true
    }
}
