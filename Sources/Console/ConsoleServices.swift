import Foundation
import ServiceLifecycle
import Synchronization

/// The port that the console has taken, once it has.
final class BoundPort: Sendable {
    private let port = Mutex<Int?>(nil)

    func taken(_ port: Int?) { self.port.withLock { $0 = port } }

    var value: Int? { self.port.withLock { $0 } }
}

/// Ends the group of services when `stop` is called.
final class StopService: Service {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let isStopped = Mutex(false)

    init() { (self.stream, self.continuation) = AsyncStream.makeStream() }

    /// Whether `stop` was called.
    var wasStopped: Bool { self.isStopped.withLock { $0 } }

    func stop() {
        self.isStopped.withLock { $0 = true }
        self.continuation.yield()
    }

    func run() async throws {
        await withGracefulShutdownHandler {
            for await _ in self.stream { return }
        } onGracefulShutdown: {
            self.continuation.finish()
        }
    }
}

/// The file of a Unix socket.
enum SocketFile {
    /// Removes the socket that an earlier process left, and nothing else.
    ///
    /// The process has a file mask with which only its user can open what it makes.
    ///
    /// - Throws: `ConsoleFailure`.
    static func free(_ path: String) throws(ConsoleFailure) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket }
        guard unlink(path) == 0 else { throw .refused(errno: errno) }
    }
}

/// The system's status of an open file, pipe or socket.
package struct OpenedFileStatus: Hashable, Sendable {
    /// Whether it is neither device nor folder, pipe or socket.
    package let isFile: Bool
    package let device: UInt64
    /// As long as it exists, no other of its device has it.
    package let number: UInt64
    package let size: UInt64

    package init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.isFile = status.st_mode & S_IFMT == S_IFREG
        self.device = UInt64(status.st_dev)
        self.number = UInt64(status.st_ino)
        self.size = UInt64(max(0, status.st_size))
    }
}
