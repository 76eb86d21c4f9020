import FileIO
import NIOCore
import Synchronization
import WireProtocol

/// Bytes of a download on their way to its file: one thread writes them, and another makes a
/// digest.
///
/// The batches of a download are written in order and digested in order. The digest may be a batch
/// ahead of the file, or behind it.
final class DownloadBatch: Sendable {
    /// The most at a time: the server gets credit when they are through.
    static let bytesMax = 1_024 * 1_024
    /// Below this, to make a digest takes no longer than to wake another thread.
    static let sharedBytesMin = 64 * 1_024

    private struct State {
        var partsLeft = 2
        var result: Result<Void, FileFailure> = .success(())
    }

    let pieces: [DownloadTransfer.Piece]
    private let download: AssetDownload
    private let state = Mutex(State())

    init(_ pieces: [DownloadTransfer.Piece], of download: AssetDownload) {
        self.pieces = pieces
        self.download = download
    }

    /// What they have cost of the window.
    var payloadBytes: Int {
        self.pieces.reduce(0) { $0 + AssetData.headerBytes + $1.bytes.readableBytes }
    }

    /// Writes and digests on the thread that calls.
    func run() -> Result<Void, FileFailure> {
        self.digest()
        return self.write()
    }

    /// Writes behind what the one lane has to do, and digests behind what the other has.
    ///
    /// `ended` is called once, on one of their threads, when both are through.
    func run(
        _ writing: FileLane,
        _ digesting: FileLane,
        ended: @escaping @Sendable (Result<Void, FileFailure>) -> Void
    ) {
        guard self.download.digest != nil else { return writing.submit { ended(self.write()) } }
        digesting.submit {
            self.digest()
            self.pass(.success(()), ended)
        }
        writing.submit { self.pass(self.write(), ended) }
    }

    private func pass(_ result: Result<Void, FileFailure>, _ ended: (Result<Void, FileFailure>) -> Void) {
        let last = self.state.withLock { state -> Result<Void, FileFailure>? in
            if case .failure = result { state.result = result }
            state.partsLeft -= 1
            return state.partsLeft == 0 ? state.result : nil
        }
        if let last { ended(last) }
    }

    private func digest() {
        guard let digest = self.download.digest else { return }
        for piece in self.pieces {
            // SAFETY: the memory is used within the call only.
            piece.bytes.withUnsafeReadableBytes { digest(piece.part, $0) }
        }
    }

    /// Those of a part together.
    private func write() -> Result<Void, FileFailure> {
        Result { () throws(FileFailure) in
            var rest = self.pieces[...]
            while let first = rest.first {
                let part = rest.prefix { $0.part == first.part }
                try self.write(part, of: first.part, at: first.offset)
                rest = rest.dropFirst(part.count)
            }
        }
    }

    private func write(
        _ pieces: ArraySlice<DownloadTransfer.Piece>,
        of part: Int,
        at offset: Int64
    ) throws(FileFailure) {
        var failure: FileFailure?
        ByteBuffer.withMemory(of: pieces.map(\.bytes)) { memory in
            do throws(FileFailure) {
                try self.download.write(part, offset, memory)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}
