import CloudKit
import Glibc

/// A port of this machine at which connections are taken, and nobody says a word.
final class SilentPort {
    let number: UInt16
    private let socket: Int32

    struct Failure: Error {
        var code = errno
    }

    init() throws {
        self.socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard self.socket >= 0 else { throw Failure() }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var bytes = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = self.socket
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            // SAFETY: the kernel takes every kind of address by the head that all of them begin
            // with, and by its size.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, bytes) == 0 && listen(socket, 8) == 0
                    && getsockname(socket, address, &bytes) == 0
            }
        }
        guard isOpen else {
            let failure = Failure()
            close(socket)
            throw failure
        }
        self.number = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(self.socket) }

    /// A container there: its requests wait for TLS.
    var container: CKContainer {
        CKContainer(
            identifier: "org.example.silent",
            connection: CKServerConnection(url: "tidemark://127.0.0.1:\(self.number)", token: "token")
        )
    }
}
