import Foundation
import MonitoringEndpoint
import RecordServer
import WebServices

/// The address of `web_listen`.
enum WebListen: Hashable, Sendable, CustomStringConvertible {
    /// With the server's certificate.
    case encrypted(ListenAddress)
    /// Without TLS, for programs on this machine: proxies among them.
    case plain(EndpointAddress)

    private static let unixPrefix = "unix:"
    private static let plainPrefix = "http://"

    /// Reads `HOST:PORT`, `http://127.0.0.1:PORT` or `unix:PATH`; `off` is none.
    ///
    /// - Throws: `usage`, also for plain HTTP on an address that other machines could reach.
    init?(_ text: String) throws(CommandFailure) {
        if text == "off" { return nil }
        if text.hasPrefix(Self.unixPrefix) {
            let path = String(text.dropFirst(Self.unixPrefix.count))
            guard path.hasPrefix("/") else {
                throw Self.refusal(text, "the path of a Unix socket begins with /")
            }
            self = .plain(.unix(path: path))
            return
        }
        let isPlain = text.hasPrefix(Self.plainPrefix)
        let name = isPlain ? String(text.dropFirst(Self.plainPrefix.count)) : text
        // The port of the server is no default for another listener.
        guard name.last?.isNumber == true, name.contains(":") || !name.contains("."),
            let listen = ListenAddress(name)
        else { throw Self.refusal(text, "it takes HOST:PORT, http://127.0.0.1:PORT, unix:PATH or off") }
        guard isPlain else {
            self = .encrypted(listen)
            return
        }
        guard let loopback = EndpointAddress.Loopback(host: listen.host, port: listen.port) else {
            throw Self.refusal(
                text,
                "without TLS it takes 127.0.0.1, [::1] or a Unix socket alone: leave out http://, or put a "
                    + "proxy with TLS in front"
            )
        }
        self = .plain(.loopback(loopback))
    }

    private static func refusal(_ text: String, _ reason: String) -> CommandFailure {
        CommandFailure(.usage, "'\(text)' is not valid for web_listen: \(reason).")
    }

    var description: String {
        switch self {
        case .encrypted(let address): "\(address)"
        case .plain(.unix(let path)): "\(Self.unixPrefix)\(path)"
        case .plain(let address): "\(Self.plainPrefix)\(address)"
        }
    }

    /// Takes the address, before the server starts.
    func bind() throws(CommandFailure) -> WebListener {
        do {
            switch self {
            case .encrypted(let address):
                return WebListener(address: self, socket: try Self.socket(address.host, address.port))
            case .plain(.loopback(let address)):
                return WebListener(address: self, socket: try Self.socket(address.host, address.port))
            case .plain(.unix(let path)):
                try UnixSocketFile.free(path)
                let socket = try BoundSocket(unixPath: path)
                return WebListener(address: self, socket: socket, file: UnixSocketFile(bound: path))
            }
        } catch {
            throw self.failure(error)
        }
    }

    private static func socket(_ host: String, _ port: Int) throws(BoundSocket.Failure) -> BoundSocket {
        var listen = ServerConfiguration.Listen.defaults
        listen.host = host
        listen.port = port
        return try BoundSocket(listen)
    }

    private func failure(_ error: any Error) -> CommandFailure {
        let reason: String
        switch error {
        case BoundSocket.Failure.unknownHost: reason = "the host name does not resolve"
        case BoundSocket.Failure.refused(let code), EndpointFailure.refused(let code):
            reason =
                code == EADDRINUSE
                ? "another process listens there, which ss -lxtnp names" : String(cString: strerror(code))
        case EndpointFailure.notASocket: reason = "there is a file of another kind: move it away"
        case EndpointFailure.pathTooLong:
            reason = "the path is longer than the system permits for a socket"
        default: reason = "\(error)"
        }
        return CommandFailure(
            .cannotCreate,
            "cannot serve CloudKit Web Services on \(self): \(reason). Choose another address with --web-listen."
        )
    }
}

/// The listener of CloudKit Web Services, from its address to its end.
struct WebListener: Sendable {
    let address: WebListen
    let socket: BoundSocket
    /// That of a Unix socket.
    var file: UnixSocketFile?

    /// Starts beside a server that runs.
    ///
    /// - Returns: The line that announces it.
    /// - Throws: `unavailable`.
    func start(beside server: RecordServer) async throws(CommandFailure) -> String {
        let isEncrypted = if case .encrypted = self.address { true } else { false }
        do {
            let port = try await WebServices().listen(
                on: self.socket,
                isEncrypted: isEncrypted,
                beside: server
            )
            return "CloudKit Web Services on \(self.url(port: port))\n"
        } catch {
            throw CommandFailure(.unavailable, "CloudKit Web Services cannot start: \(error).")
        }
    }

    /// Removes the file of a Unix socket.
    func end() { self.file?.remove() }

    private func url(port: Int?) -> String {
        switch self.address {
        case .encrypted(let address):
            "https://\(ListenAddress(host: address.host, port: port ?? address.port))"
        case .plain(.loopback(let address)):
            "http://\(ListenAddress(host: address.host, port: port ?? address.port))"
        case .plain(.unix): "\(self.address)"
        }
    }
}
