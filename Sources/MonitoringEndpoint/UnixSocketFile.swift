import Foundation
import NIOCore

/// The file of a Unix socket: freed before it is bound, and removed at the end.
package struct UnixSocketFile: Sendable {
    /// Access for the server's user and group: operators add collectors to the group.
    private static let permissions: mode_t = 0o660

    let path: String
    private let inode: ino_t

    /// Removes the file of a process that has ended.
    ///
    /// - Throws: `notASocket`, `pathTooLong`; `refused` with `EADDRINUSE` if a process listens
    ///   there.
    package static func free(_ path: String) throws(EndpointFailure) {
        guard let address = try? SocketAddress(unixDomainSocketPath: path) else { throw .pathTooLong }
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .refused(errno: errno) }
        defer { close(descriptor) }
        // SAFETY: the address outlives the call, which reads only the given number of bytes.
        let code = address.withSockAddr { connect(descriptor, $0, socklen_t($1)) == 0 ? 0 : errno }
        // Only a refusal proves that no process listens.
        guard code == ECONNREFUSED else { throw .refused(errno: code == 0 ? EADDRINUSE : code) }
        unlink(path)
    }

    /// Gives the group access to a file that was just bound.
    package init(bound path: String) {
        self.path = path
        chmod(path, Self.permissions)
        var status = stat()
        self.inode = lstat(path, &status) == 0 ? status.st_ino : 0
    }

    /// Removes the file, unless it was replaced by another.
    package func remove() {
        var status = stat()
        if lstat(self.path, &status) == 0, status.st_ino == self.inode { unlink(self.path) }
    }
}
