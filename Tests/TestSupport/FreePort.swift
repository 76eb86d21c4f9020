import Foundation
import Synchronization

/// Ports of this machine for servers that start, end and start again.
package enum FreePort {
    /// Below those that the system gives to outgoing connections, so that nobody takes one while its
    /// server is down.
    private static let range = 12_000..<32_000

    /// The port that is looked at next.
    private static let next = Mutex(Int.random(in: Self.range))

    /// A port that nobody listens on, and that no other test of this process gets.
    package static func take() -> Int {
        self.next.withLock { next in
            for _ in self.range {
                next = next + 1 < self.range.upperBound ? next + 1 : self.range.lowerBound
                if self.isFree(next) { return next }
            }
            fatalError("no port of \(self.range) is free")
        }
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = INADDR_ANY
        // SAFETY: the pointers are used within the call, and the length is that of the value behind them.
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
