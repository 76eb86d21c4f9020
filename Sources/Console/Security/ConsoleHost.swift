import Foundation

/// The name of one console in URLs: `console-` and a random part, below `localhost`.
///
/// A browser sends a cookie to every port of its host, and other users of the machine listen on
/// other ports of 127.0.0.1. So each console has a host of its own, which browsers resolve to
/// loopback by themselves (RFC 6761, section 6.3), and which other users cannot guess.
struct ConsoleHost: Hashable, Sendable {
    let name = "console-\(Secret.make()).localhost"

    /// Whether a field `Host` names this console, with the port; with any if that is `nil`.
    func isNamed(by field: String, port: Int?) -> Bool {
        guard field.hasPrefix(self.name + ":"),
            let named = Int(field.dropFirst(self.name.count + 1)), (1...65_535).contains(named)
        else { return false }
        return port == nil || port == named
    }
}

/// The port of the console on [::1], bound and never listened on.
///
/// Browsers try both loopback addresses for a name below `localhost`. Without this socket another
/// user could listen on [::1] and get the link and the cookie of a console on 127.0.0.1.
struct OtherLoopback: Sendable {
    /// Tries for a port that is free on both addresses.
    private static let attempts = 16

    private let descriptor: Int32?
    /// The port to listen on; the one that was asked for if the machine has no [::1].
    let port: Int

    /// Binds the port, or any that is free on both addresses if it is 0.
    ///
    /// - Throws: `ConsoleFailure`.
    init(port asked: Int) throws(ConsoleFailure) {
        for _ in 0..<Self.attempts {
            guard let (descriptor, port) = try Self.bind6(asked) else {
                self.descriptor = nil
                self.port = asked
                return
            }
            if asked != 0 || Self.isFree4(port) {
                self.descriptor = descriptor
                self.port = port
                return
            }
            Foundation.close(descriptor)
        }
        throw .addressInUse
    }

    /// Leaves the port to others.
    func close() { if let descriptor = self.descriptor { Foundation.close(descriptor) } }

    /// `nil` if the machine has no [::1], so that no other process can listen there either.
    private static func bind6(_ port: Int) throws(ConsoleFailure) -> (descriptor: Int32, port: Int)? {
        let descriptor = Self.socket(AF_INET6)
        guard descriptor >= 0 else { return nil }
        var only: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &only, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = in_port_t(port).bigEndian
        address.sin6_addr = in6addr_loopback
        if let code = Self.bind(descriptor, &address) {
            Foundation.close(descriptor)
            switch code {
            case EADDRNOTAVAIL, EAFNOSUPPORT: return nil
            case EADDRINUSE: throw .addressInUse
            default: throw .refused(errno: code)
            }
        }
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        // SAFETY: the address has room for what the system writes, and `length` says how much.
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return (descriptor, Int(in_port_t(bigEndian: address.sin6_port)))
    }

    private static func isFree4(_ port: Int) -> Bool {
        let descriptor = Self.socket(AF_INET)
        defer { Foundation.close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr = in_addr(s_addr: in_addr_t(INADDR_LOOPBACK).bigEndian)
        return Self.bind(descriptor, &address) == nil
    }

    /// The number of the system's error; `nil` if there was none.
    private static func bind<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32? {
        // SAFETY: `Address` is one of the system's socket addresses, passed with its own size.
        let outcome = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        return outcome == 0 ? nil : errno
    }

    private static func socket(_ family: Int32) -> Int32 {
        #if os(Linux)
        Foundation.socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
        Foundation.socket(family, SOCK_STREAM, 0)
        #endif
    }
}
