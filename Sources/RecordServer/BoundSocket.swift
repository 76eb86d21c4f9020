import Foundation
import NIOCore
import Synchronization

/// An address that a server will listen on, taken before there is anything to serve.
///
/// Clients that connect meanwhile wait until the server accepts them.
package final class BoundSocket: Sendable {
    /// Why an address cannot be had.
    package enum Failure: Error, Hashable, Sendable {
        /// No address has this name, as far as is known.
        case unknownHost
        /// The system's error.
        case refused(errno: Int32)
    }

    /// `nil` once a server has it.
    private let descriptor: Mutex<Int32?>
    private let backlogConnections: Int32

    /// Takes an address; port 0 is any free one.
    ///
    /// - Throws: `Failure`, before anything else was done.
    package init(_ listen: ServerConfiguration.Listen) throws(Failure) {
        guard let address = try? SocketAddress.makeAddressResolvingHost(listen.host, port: listen.port) else {
            throw .unknownHost
        }
        let family: Int32 = address.protocol == .inet6 ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .refused(errno: errno) }
        // A port whose last connections are still winding down is free.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let isBound = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) == 0 }
        guard isBound, Foundation.listen(descriptor, listen.backlogConnections) == 0 else {
            let code = errno
            close(descriptor)
            throw .refused(errno: code)
        }
        self.descriptor = Mutex(descriptor)
        self.backlogConnections = listen.backlogConnections
    }

    /// Gives the socket to a channel, once.
    func take() -> Int32 {
        self.descriptor.withLock { descriptor in
            guard let taken = descriptor else { preconditionFailure("a socket serves one server") }
            descriptor = nil
            return taken
        }
    }

    /// A channel sets the kernel's queue to a default of its own when it takes a socket.
    func restoreBacklog(of descriptor: Int32) {
        _ = Foundation.listen(descriptor, self.backlogConnections)
    }

    deinit {
        self.descriptor.withLock { descriptor in
            if let descriptor { close(descriptor) }
        }
    }
}
