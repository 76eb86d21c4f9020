import RecordServer

/// `HOST:PORT`, with an IPv6 address in brackets.
///
/// `PORT` alone means the loopback address, `:PORT` all addresses.
struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    var host: String
    /// 0 for any free port.
    var port: Int

    static let defaults = ListenAddress(host: "127.0.0.1", port: ServerConfiguration.Listen.defaults.port)

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// All IPv4 addresses of the machine.
    private static let allHosts = "0.0.0.0"

    /// Fails unless the text is `HOST`, `HOST:PORT`, `[ADDRESS]`, `[ADDRESS]:PORT`, `PORT` or
    /// `:PORT`.
    init?(_ text: String) {
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            guard let port = UInt16(text) else { return nil }
            self.init(host: Self.defaults.host, port: Int(port))
            return
        }
        var host = text[...]
        var port: Substring?
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
            if host.isEmpty, port?.isEmpty == false { host = Self.allHosts[...] }
        }
        guard !host.isEmpty else { return nil }
        var number = ServerConfiguration.Listen.defaults.port
        if let port {
            guard let given = UInt16(port), port.utf8.allSatisfy({ (48...57).contains($0) }) else {
                return nil
            }
            number = Int(given)
        }
        self.init(host: String(host), port: number)
    }

    var description: String {
        self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
    }

    /// The host for a client on this machine: the wildcard address includes the loopback.
    var reachableHost: String {
        switch self.host {
        case Self.allHosts: "127.0.0.1"
        case "::": "::1"
        default: self.host
        }
    }
}
