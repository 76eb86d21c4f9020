import Foundation
import NIOCore
import NIOPosix

/// Writes a file, as much at a time as the socket takes; a thread of its own reads ahead.
final class FileSource {
    /// Of which a read has some.
    private static let pieceBytes = Source.pieceBytes
    private static let piecesPerRead = 4
    private static let piecesAheadMax = 8
    /// What TLS encrypts at a time.
    private static let writtenBytesMax = 32 * 1_024 - 128

    private let file: SourceFile
    private let total: Int
    private var offset = 0
    private var read: [ByteBuffer] = []
    private var spare: [ByteBuffer] = []
    private var isReading = false
    private var isWriting = false

    /// `total`: a multiple of a piece, and no more than the file has.
    init(path: String, total: Int) throws {
        self.file = try SourceFile(path: path)
        self.total = total
    }

    func write(to context: ChannelHandlerContext) {
        guard !self.isWriting else { return }
        self.isWriting = true
        while context.channel.isWritable, !self.read.isEmpty {
            let piece = self.read.removeFirst()
            var rest = piece
            while rest.readableBytes > 0 {
                guard let part = rest.readSlice(length: min(rest.readableBytes, Self.writtenBytesMax)) else {
                    break
                }
                context.writeAndFlush(NIOAny(part), promise: nil)
            }
            // TLS has made a copy.
            if self.spare.count < Self.piecesAheadMax { self.spare.append(piece) }
        }
        self.isWriting = false
        self.readAhead(context)
    }

    private func readAhead(_ context: ChannelHandlerContext) {
        guard !self.isReading, self.offset < self.total,
            self.read.count + Self.piecesPerRead <= Self.piecesAheadMax
        else { return }
        self.isReading = true
        let (file, start) = (self.file, self.offset)
        let count = min(Self.piecesPerRead, (self.total - start) / Self.pieceBytes)
        self.offset += count * Self.pieceBytes
        let buffers = (0..<count).map { _ in self.spare.popLast() ?? ByteBuffer() }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        SourceFile.thread.runIfActive(eventLoop: context.eventLoop) {
            try buffers.enumerated().map { number, buffer in
                try file.read(Self.pieceBytes, at: start + number * Self.pieceBytes, into: buffer)
            }
        }.whenComplete { result in
            let (source, context) = bound.value
            source.isReading = false
            switch result {
            case .success(let pieces):
                source.read += pieces
                source.write(to: context)
            case .failure: context.close(promise: nil)
            }
        }
    }
}

private final class SourceFile: Sendable {
    static let thread = NIOThreadPool.ofOneThread()
    private let descriptor: Int32

    init(path: String) throws {
        self.descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard self.descriptor >= 0 else { throw KeptStream.Failed() }
    }

    deinit { close(self.descriptor) }

    func read(_ count: Int, at offset: Int, into buffer: ByteBuffer) throws -> ByteBuffer {
        var buffer = buffer
        buffer.clear(minimumCapacity: count)
        // SAFETY: the memory is written to within the call, and counts as far as it was.
        let read = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) {
            max(0, pread(self.descriptor, $0.baseAddress, count, off_t(offset)))
        }
        guard read == count else { throw KeptStream.Failed() }
        return buffer
    }
}
