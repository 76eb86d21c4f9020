import NIOHTTP1

/// The action for the head of a request.
enum OnRequest: Equatable {
    /// Make the page of this path.
    case page(String)
    case refuse(HTTPResponseStatus, String)
}

/// Decides on requests by their heads.
struct EndpointRules {
    let paths: Set<String>
    /// Whether the `Host` field must name this machine.
    ///
    /// A name with a changing address can lead a browser to a loopback port (DNS rebinding). The
    /// field then has that name. No browser reaches a Unix socket.
    let checksHost: Bool

    func decision(on head: HTTPRequestHead) -> OnRequest {
        if self.checksHost {
            let hosts = head.headers["host"]
            guard hosts.count == 1, LoopbackHost.isNamed(by: hosts[0]) else {
                return .refuse(
                    .misdirectedRequest,
                    "The Host field must name this machine: localhost, 127.0.0.1 or [::1]."
                )
            }
        }
        let path = String(head.uri.prefix { $0 != "?" })
        guard self.paths.contains(path) else {
            return .refuse(.notFound, "There are these pages: \(self.paths.sorted().joined(separator: " ")).")
        }
        guard head.method == .GET || head.method == .HEAD else {
            return .refuse(.methodNotAllowed, "The page takes GET and HEAD.")
        }
        return .page(path)
    }
}
