import Foundation
import RecordServer

/// Error texts for an address that the server cannot listen on.
enum ListenAdvice {
    static func failure(_ error: BoundSocket.Failure, _ listen: ListenAddress) -> CommandFailure {
        let other = "Choose another address with --listen HOST:PORT."
        guard case .refused(let code) = error else {
            return CommandFailure(
                .unavailable,
                "cannot listen on \(listen): there is no host \(listen.host). \(other)"
            )
        }
        switch code {
        case EADDRINUSE:
            return CommandFailure(
                .unavailable,
                "cannot listen on \(listen): another process listens there, which ss -ltnp 'sport = :\(listen.port)' names. "
                    + other
            )
        case EACCES where listen.port < 1_024:
            return CommandFailure(
                .noPermission,
                "cannot listen on \(listen): ports below 1024 are reserved. Give the server the capability "
                    + "CAP_NET_BIND_SERVICE (systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE). \(other)"
            )
        case EADDRNOTAVAIL:
            return CommandFailure(
                .unavailable,
                "cannot listen on \(listen): no interface of this machine has the address; ip -brief address lists those that "
                    + "there are. \(other)"
            )
        default:
            return CommandFailure(
                .unavailable,
                "cannot listen on \(listen): \(String(cString: strerror(code))). \(other)"
            )
        }
    }
}
