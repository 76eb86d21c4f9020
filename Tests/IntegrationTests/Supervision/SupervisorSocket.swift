import Foundation
import Synchronization

/// A supervisor's end of `NOTIFY_SOCKET`: a datagram socket that keeps what arrives.
final class SupervisorSocket: Sendable {
    struct Failed: Error {
        let errno: Int32
    }

    private let descriptor: Int32
    private let received = Mutex<[String]>([])
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    /// Binds a path, or a name of the abstract namespace that begins with `@`.
    init(_ address: String) throws {
        self.descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        (self.stream, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(address.utf8)
        // SAFETY: the addresses of these tests are shorter than `sun_path`.
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        if bytes.first == UInt8(ascii: "@") { name.sun_path.0 = 0 }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        // SAFETY: an address of a Unix socket is one of a socket.
        let code = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(self.descriptor, $0, length) }
        }
        guard code == 0 else { throw Failed(errno: errno) }
        // Reads until `deinit` shuts the socket down.
        Thread.detachNewThread { [descriptor, weak self] in
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0, let self else { break }
                self.received.withLock { $0.append(String(decoding: buffer[..<count], as: UTF8.self)) }
                self.continuation.yield()
            }
            close(descriptor)
        }
    }

    deinit { shutdown(self.descriptor, Int32(SHUT_RDWR)) }

    /// All notices so far.
    var notices: [String] { self.received.withLock { $0 } }

    /// Waits until the notices are as the body wants them, for as long as the test may take.
    func waits(_ body: ([String]) -> Bool) async {
        if body(self.notices) { return }
        for await _ in self.stream where body(self.notices) { return }
    }
}
