import NIOCore

/// An address that only programs on this machine can reach.
package enum EndpointAddress: Hashable, Sendable, CustomStringConvertible {
    case loopback(Loopback)
    /// The path of a Unix socket.
    case unix(path: String)

    /// A port of a loopback address.
    package struct Loopback: Hashable, Sendable {
        package let host: String
        /// 0 for any free port.
        package let port: Int
        let socketAddress: SocketAddress

        /// Fails unless the host is `localhost`, `::1` or an address of 127.0.0.0/8.
        ///
        /// No other name is resolved: its address may change.
        package init?(host: String, port: Int) {
            let literal = host == "localhost" ? "127.0.0.1" : host
            guard LoopbackHost.isLiteral(literal),
                let address = try? SocketAddress(ipAddress: literal, port: port)
            else { return nil }
            self.host = literal
            self.port = port
            self.socketAddress = address
        }
    }

    package var description: String {
        switch self {
        case .loopback(let address):
            address.host.contains(":")
                ? "[\(address.host)]:\(address.port)" : "\(address.host):\(address.port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

/// Names and addresses of this machine.
enum LoopbackHost {
    /// Whether the text is an address of 127.0.0.0/8, or `::1`.
    static func isLiteral(_ text: String) -> Bool {
        switch try? SocketAddress(ipAddress: text, port: 0) {
        case .v4: text.hasPrefix("127.")
        case .v6: text == "::1"
        case .unixDomainSocket, nil: false
        }
    }

    /// Whether the value of a `Host` field names this machine, with any port.
    ///
    /// A tunnel may have another port than the endpoint.
    static func isNamed(by field: String) -> Bool {
        let host: Substring
        if field.hasPrefix("[") {
            guard let end = field.firstIndex(of: "]") else { return false }
            host = field[field.index(after: field.startIndex)..<end]
        } else {
            host = field.prefix { $0 != ":" }
        }
        return host.lowercased() == "localhost" || Self.isLiteral(String(host))
    }
}
