import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import Synchronization

/// Files that browsers have sent for an import, until they are imported or others replace them.
///
/// They are in a folder of the system for temporary files, which the owner alone can open, and go with
/// the console.
final class Uploads: Sendable {
    /// Maximum size of one file.
    static let fileBytesMax: Int64 = 1_024 * 1_024 * 1_024
    /// Maximum number of files; a further one replaces the oldest.
    static let filesMax = 4

    private struct State {
        var folder: String?
        /// The oldest first.
        var names: [String] = []
    }

    private let state = Mutex(State())

    deinit { self.removeAll() }

    /// Takes a file, a piece at a time.
    ///
    /// - Returns: A name for it, which an attacker cannot guess.
    /// - Throws: `PageFailure`, and the error of pieces that do not come.
    func take<Pieces: AsyncSequence>(_ pieces: Pieces) async throws -> String
    where Pieces.Element == ByteBuffer {
        let name = Secret.make()
        let handle = try self.newFile(name)
        do {
            var bytes: Int64 = 0
            for try await piece in pieces {
                bytes += Int64(piece.readableBytes)
                guard bytes <= Self.fileBytesMax else { throw Self.tooLarge }
                try await NIOThreadPool.singleton.runIfActive {
                    try handle.write(contentsOf: Data(piece.readableBytesView))
                }
            }
            try handle.close()
        } catch {
            try? handle.close()
            self.remove(name)
            guard let failure = error as? CocoaError else { throw error }
            throw PageFailure(
                .serviceUnavailable,
                "Not taken",
                "The file cannot be kept for the import: \(failure.localizedDescription)"
            )
        }
        return name
    }

    /// The path of a file; `nil` if there is none of this name, or if it was removed.
    func path(of name: String) -> String? {
        self.state.withLock { state in
            guard state.names.contains(name), let folder = state.folder else { return nil }
            return folder + "/" + name
        }
    }

    func remove(_ name: String) {
        self.state.withLock { state in
            guard let offset = state.names.firstIndex(of: name), let folder = state.folder else { return }
            state.names.remove(at: offset)
            unlink(folder + "/" + name)
        }
    }

    func removeAll() {
        self.state.withLock { state in
            if let folder = state.folder { try? FileManager.default.removeItem(atPath: folder) }
            state = State()
        }
    }

    private func newFile(_ name: String) throws(PageFailure) -> FileHandle {
        let handle = self.state.withLock { state -> FileHandle? in
            if state.folder == nil {
                var template = Array((NSTemporaryDirectory() + "/tidemark-console-XXXXXX").utf8CString)
                // Made with mode 0700.
                guard mkdtemp(&template) != nil else { return nil }
                state.folder = String(
                    decoding: template.dropLast().map(UInt8.init(bitPattern:)),
                    as: UTF8.self
                )
            }
            guard let folder = state.folder else { return nil }
            while state.names.count >= Self.filesMax { unlink(folder + "/" + state.names.removeFirst()) }
            let file = open(folder + "/" + name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { return nil }
            state.names.append(name)
            return FileHandle(fileDescriptor: file, closeOnDealloc: true)
        }
        guard let handle else {
            throw PageFailure(
                .serviceUnavailable,
                "Not taken",
                "No file can be made in \(NSTemporaryDirectory()). Name another folder with TMPDIR, and start again."
            )
        }
        return handle
    }

    private static let tooLarge = PageFailure(
        .contentTooLarge,
        "Too large",
        "A page takes files of up to \(Shown.bytes(Uploads.fileBytesMax)). For a larger one: tidemark records import"
    )
}
