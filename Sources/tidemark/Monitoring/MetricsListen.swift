import Foundation
import MonitoringEndpoint

/// The address of `metrics_listen`, and error texts for it.
enum MetricsListen {
    private static let unixPrefix = "unix:"

    /// Reads `HOST:PORT`, `[ADDRESS]:PORT`, `PORT` or `unix:PATH`.
    ///
    /// - Throws: `usage`, also for an address that other machines could reach.
    static func address(_ text: String) throws(CommandFailure) -> EndpointAddress {
        if text.hasPrefix(self.unixPrefix) {
            let path = String(text.dropFirst(self.unixPrefix.count))
            guard path.hasPrefix("/") else {
                throw CommandFailure(
                    .usage,
                    "'\(text)' is not valid for metrics_listen: the path of a Unix socket begins with /, such as "
                        + "unix:/run/tidemark/metrics.sock."
                )
            }
            return .unix(path: path)
        }
        // The port of the server is no default for another listener.
        let hasPort = text.last?.isNumber == true && (text.contains(":") || !text.contains("."))
        guard hasPort, let listen = ListenAddress(text) else {
            throw CommandFailure(
                .usage,
                "'\(text)' is not valid for metrics_listen: it takes 127.0.0.1:PORT, [::1]:PORT or unix:PATH."
            )
        }
        guard let loopback = EndpointAddress.Loopback(host: listen.host, port: listen.port) else {
            throw CommandFailure(
                .usage,
                "metrics_listen takes no address that other machines reach, such as \(listen): the metrics have neither "
                    + "sign-in nor TLS. Listen on 127.0.0.1:\(listen.port) or unix:/run/tidemark/metrics.sock, and put a "
                    + "proxy with both in front of it for a collector elsewhere."
            )
        }
        return .loopback(loopback)
    }

    static func failure(_ error: EndpointFailure, _ address: EndpointAddress) -> CommandFailure {
        let other = "Choose another address with --metrics-listen."
        switch error {
        case .notASocket:
            return CommandFailure(
                .cannotCreate,
                "cannot serve metrics on \(address): there is a file of another kind. Move it away. \(other)"
            )
        case .pathTooLong:
            return CommandFailure(
                .cannotCreate,
                "cannot serve metrics on \(address): the path is longer than the system permits for a socket. \(other)"
            )
        case .refused(EADDRINUSE):
            return CommandFailure(
                .unavailable,
                "cannot serve metrics on \(address): another process listens there, which ss -lxtnp names. \(other)"
            )
        case .refused(let code):
            return CommandFailure(
                .cannotCreate,
                "cannot serve metrics on \(address): \(String(cString: strerror(code))). \(other)"
            )
        }
    }
}
