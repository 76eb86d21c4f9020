import Foundation

/// A port of the loopback address that the system gives to no other process, also while no server
/// listens on it.
///
/// A socket holds it that is bound and does not listen. A server that sets `SO_REUSEADDR` can still
/// bind the port. The system chooses it neither for another bind nor for an outgoing connection.
final class ReservedPort: Sendable {
    let number: Int
    private let descriptor: Int32

    /// Reserves a port that the system chooses.
    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure() }
        do {
            self.number = try Self.take(descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    private static func take(_ descriptor: Int32) throws -> Int {
        var isShared: Int32 = 1
        let option = socklen_t(MemoryLayout<Int32>.size)
        guard setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isShared, option) == 0 else {
            throw self.failure()
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // SAFETY: the calls get the size of one `sockaddr_in`, and read and write it before
        // they return.
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                guard bind(descriptor, general, length) == 0 else { return Int32(-1) }
                return getsockname(descriptor, general, &length)
            }
        }
        guard result == 0 else { throw self.failure() }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func failure() -> any Error {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}
