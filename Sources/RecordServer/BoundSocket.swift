import Foundation
import NIOCore
import Synchronization

/// A bound listening address, taken before the server starts.
///
/// Clients that connect meanwhile wait until the server accepts them.
package final class BoundSocket: Sendable {
    /// Why an address cannot be bound.
    package enum Failure: Error, Hashable, Sendable {
        /// The host name does not resolve.
        case unknownHost
        /// The system's error.
        case refused(errno: Int32)
    }

    /// `nil` after a server took it.
    private let descriptor: Mutex<Int32?>
    private let backlogConnections: Int32

    /// Binds an address; port 0 means any free one.
    ///
    /// - Throws: `Failure`, without other effects.
    package convenience init(_ listen: ServerConfiguration.Listen) throws(Failure) {
        guard let address = try? SocketAddress.makeAddressResolvingHost(listen.host, port: listen.port) else {
            throw .unknownHost
        }
        try self.init(address, backlogConnections: listen.backlogConnections)
    }

    /// Binds the file of a Unix socket, which must not be there.
    package convenience init(unixPath path: String) throws(Failure) {
        guard let address = try? SocketAddress(unixDomainSocketPath: path) else { throw .unknownHost }
        try self.init(
            address,
            backlogConnections: ServerConfiguration.Listen.defaults.backlogConnections
        )
    }

    private init(_ address: SocketAddress, backlogConnections: Int32) throws(Failure) {
        let family: Int32 =
            switch address {
            case .v4: AF_INET
            case .v6: AF_INET6
            case .unixDomainSocket: AF_UNIX
            }
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .refused(errno: errno) }
        // Allows a port while its last connections are still closing.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let isBound = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) == 0 }
        guard isBound, Foundation.listen(descriptor, backlogConnections) == 0 else {
            let code = errno
            close(descriptor)
            throw .refused(errno: code)
        }
        self.descriptor = Mutex(descriptor)
        self.backlogConnections = backlogConnections
    }

    /// Gives the socket to a channel, once.
    func take() -> Int32 {
        self.descriptor.withLock { descriptor in
            guard let taken = descriptor else { preconditionFailure("a socket serves one server") }
            descriptor = nil
            return taken
        }
    }

    /// Restores the backlog: a channel that takes a socket resets it to a default of its own.
    func restoreBacklog(of descriptor: Int32) {
        _ = Foundation.listen(descriptor, self.backlogConnections)
    }

    deinit {
        self.descriptor.withLock { descriptor in
            if let descriptor { close(descriptor) }
        }
    }
}
