import NIOCore
import Testing
import WireProtocol

@Suite struct FrameAssemblyTests {
    private let frames = [
        Frame(kind: .request, stream: 1, payload: ByteBuffer(repeating: 1, count: 300)),
        Frame(kind: .ping, payload: ByteBuffer(repeating: 2, count: 8)),
        Frame(kind: .cancel, stream: 1),
        Frame(kind: .request, stream: 3, payload: ByteBuffer(repeating: 3, count: 40)),
    ]

    private var stream: ByteBuffer {
        var bytes = ByteBuffer()
        for frame in self.frames { FrameEncoder.write(frame, into: &bytes) }
        return bytes
    }

    @Test func `pieces of every size give the same frames`() throws {
        let bytes = self.stream
        for pieceBytes in 1...bytes.readableBytes {
            let assembly = FrameAssembly()
            var received: [Frame] = []
            var rest = bytes
            while let piece = rest.readSlice(length: min(pieceBytes, rest.readableBytes)),
                piece.readableBytes > 0
            {
                try assembly.received(piece) { received.append($0) }
            }
            #expect(received == self.frames, "pieces of \(pieceBytes) bytes")
        }
    }

    @Test func `the buffer of a piece is not held, whole frames or not`() throws {
        for cutBytes in [0, 1, 11] {
            let assembly = FrameAssembly()
            var piece = self.stream
            piece.moveWriterIndex(to: piece.writerIndex - cutBytes)
            // SAFETY: addresses are compared here and below, and nothing is read through them.
            let lent = piece.withUnsafeReadableBytes { $0.baseAddress }
            try assembly.received(piece) { _ in }
            // Written to while somebody else holds it, a buffer moves.
            piece.setInteger(UInt8(0), at: 0)
            #expect(piece.withUnsafeReadableBytes { $0.baseAddress } == lent, "\(cutBytes) bytes missing")
        }
    }

    @Test(arguments: [0, 1])
    func `a payload beyond the limit is refused by its header`(excess: Int) throws {
        let assembly = FrameAssembly(payloadBytesMax: 299)
        assembly.payloadBytesMax = 300 - excess
        let header = try #require(self.stream.getSlice(at: 0, length: Frame.headerBytes))
        if excess == 0 {
            try assembly.received(header) { _ in Issue.record("a frame without its payload") }
        } else {
            #expect(throws: WireError(.frameTooLarge, field: "payload bytes")) {
                try assembly.received(header) { _ in }
            }
        }
    }
}
