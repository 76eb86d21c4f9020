import Foundation
import NIOCore
import NIOPosix

/// Messages in files, each in one of its own.
final class KeptFiles: Sendable {
    struct Failed: Error {}

    private let folder: String
    /// Each file, and its name, is on the disk before it counts as kept.
    private let isSynced: Bool

    init(folder: String, isSynced: Bool) {
        self.folder = folder
        self.isSynced = isSynced
    }

    func keep(_ message: ByteBuffer, on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { try self.write(message) }
    }

    /// Of a file that is not there.
    var newPath: String { self.folder + "/" + UUID().uuidString }

    private func write(_ message: ByteBuffer) throws {
        let path = self.newPath
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failed() }
        defer { close(file) }
        // SAFETY: the bytes are used within the call only.
        let written = message.withUnsafeReadableBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        guard written == message.readableBytes else { throw Failed() }
        guard self.isSynced else { return }
        guard fdatasync(file) == 0 else { throw Failed() }
        let names = open(self.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(names) }
        guard names >= 0, fsync(names) == 0 else { throw Failed() }
    }
}
