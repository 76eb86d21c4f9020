import Foundation

/// The datagram socket on which a supervisor such as systemd takes notices: `NOTIFY_SOCKET` of
/// `sd_notify(3)`.
///
/// A path, or a name that begins with `@` in Linux' abstract namespace.
struct NotifySocket: Hashable, Sendable {
    enum Failure: Error, Hashable {
        /// Neither a path from the root nor an abstract name.
        case unsupportedAddress
        /// Longer than an address of a Unix socket.
        case addressTooLong
        /// The system's error.
        case system(errno: Int32)
    }

    /// The maximum time for which a supervisor that does not read may block the sender.
    private static let sendTimeoutSeconds = 5

    /// `sun_path`: with a NUL at the end of a path, and at the beginning of an abstract name.
    private let path: [UInt8]

    init(_ address: String) throws(Failure) {
        let bytes = Array(address.utf8)
        switch bytes.first {
        case UInt8(ascii: "/"): self.path = bytes + [0]
        case UInt8(ascii: "@"): self.path = [0] + bytes.dropFirst()
        default: throw .unsupportedAddress
        }
        guard self.path.count <= MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            throw .addressTooLong
        }
    }

    /// Sends one datagram.
    func send(_ text: String) throws(Failure) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(errno: errno) }
        defer { close(descriptor) }
        var timeout = timeval(tv_sec: Self.sendTimeoutSeconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let bytes = Array(text.utf8)
        let sent = self.withAddress { address, length in
            sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length)
        }
        guard sent == bytes.count else { throw .system(errno: errno) }
    }

    // SAFETY: the pointer does not leave the call.
    private func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // SAFETY: `init` has checked that the path is not longer than `sun_path`.
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: self.path) }
        // An abstract name has no end but this length.
        let length = socklen_t(MemoryLayout<sa_family_t>.size + self.path.count)
        // SAFETY: every address of a socket begins with a family, and the kernel reads no more than `length`.
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
