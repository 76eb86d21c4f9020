import FileIO
import NIOCore
import Testing
import Transport
import WireProtocol

@Suite struct FrameAssemblyTests {
    private static let assetBytes = 33_000
    private let frames = [
        Frame(kind: .request, stream: 1, payload: ByteBuffer(repeating: 1, count: 300)),
        Frame(kind: .ping, payload: ByteBuffer(repeating: 2, count: 8)),
        Frame(kind: .cancel, stream: 1),
        Frame(kind: .assetData, stream: 5, payload: ByteBuffer(repeating: 4, count: 90)),
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

    @Test(arguments: 1...5)
    func `frames behind those that are wanted wait, in order and counted`(turn: Int) throws {
        let bytes = self.stream
        for pieceBytes in [1, 7, 200, bytes.readableBytes] {
            let assembly = FrameAssembly()
            var received: [Frame] = []
            var end = turn
            var rest = bytes
            while let piece = rest.readSlice(length: min(pieceBytes, rest.readableBytes)),
                piece.readableBytes > 0
            {
                try assembly.received(piece, while: { received.count < end }) { received.append($0) }
            }
            #expect(received.count == min(turn, self.frames.count))
            #expect((assembly.waitingBytes > 0) == (turn < self.frames.count))
            while assembly.waitingBytes > 0, received.count == end {
                end += turn
                try assembly.resume(while: { received.count < end }) { received.append($0) }
            }
            #expect(received == self.frames, "pieces of \(pieceBytes) bytes")
            #expect(assembly.waitingBytes == 0 && assembly.unfinishedBytes == 0)
        }
    }

    @Test func `each frame that comes in pieces is another one, and holds memory until it is whole`() throws {
        let assembly = FrameAssembly()
        var rest = self.stream
        let first = rest.readSlice(length: 200) ?? ByteBuffer()
        try assembly.received(first) { _ in }
        #expect(assembly.framesInPieces == 1)
        #expect(assembly.unfinishedBytes >= 200)
        let second = rest.readSlice(length: 50) ?? ByteBuffer()
        try assembly.received(second) { _ in }
        #expect(assembly.framesInPieces == 1, "the same frame")
        // The end of the first frame, and the beginning of the one after it.
        let third = rest.readSlice(length: 65) ?? ByteBuffer()
        try assembly.received(third) { _ in }
        #expect(assembly.framesInPieces == 2)
        try assembly.received(rest) { _ in }
        #expect(assembly.unfinishedBytes == 0)
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

    @Test(arguments: [1, 9, 10, 11, 1_000, 32_999, 33_010, 70_000])
    func `large payloads of assets come whole, in memory that is used again`(pieceBytes: Int) throws {
        let frames = (0..<4).map {
            Frame(kind: .assetData, stream: 5, payload: ByteBuffer(repeating: $0, count: Self.assetBytes))
        }
        var rest = ByteBuffer()
        for frame in frames { FrameEncoder.write(frame, into: &rest) }
        let buffers = BufferPool()
        let assembly = FrameAssembly(payloadBytesMax: 262_156, buffers: buffers)
        var payloads: [UInt8] = []
        // SAFETY: addresses are compared, and nothing is read through them.
        var addresses: Set<UnsafeRawPointer?> = []
        while rest.readableBytes > 0, let piece = rest.readSlice(length: min(pieceBytes, rest.readableBytes))
        {
            try assembly.received(piece) { frame in
                #expect(frame.payload.readableBytes == Self.assetBytes)
                #expect(Set(frame.payload.readableBytesView).count == 1)
                payloads.append(frame.payload.readableBytesView.first ?? 9)
                // SAFETY: addresses are compared, and nothing is read through them.
                addresses.insert(frame.payload.withVeryUnsafeBytes { UnsafeRawPointer($0.baseAddress) })
                buffers.giveBack(frame.payload)
            }
        }
        #expect(payloads == [0, 1, 2, 3])
        #expect(addresses.count < 4)
    }

    @Test(arguments: [9, 10, 21, 16_384, 50_000, 300_000])
    func `many bytes of an asset lie at a page`(pieceBytes: Int) throws {
        let data = (0..<4).map { number in
            AssetData(
                item: 0,
                offset: number * 131_072,
                bytes: ByteBuffer(repeating: UInt8(number), count: 131_072)
            )
        }
        var rest = ByteBuffer()
        for data in data {
            FrameEncoder.write(Frame(kind: .assetData, stream: 5, payload: data.encoded()), into: &rest)
        }
        let buffers = BufferPool()
        let assembly = FrameAssembly(payloadBytesMax: 262_156, buffers: buffers)
        var received: [AssetData] = []
        while rest.readableBytes > 0, let piece = rest.readSlice(length: min(pieceBytes, rest.readableBytes))
        {
            try assembly.received(piece) { frame in
                let data = try AssetData(decoding: frame.payload)
                // SAFETY: the address is looked at, and nothing is read through it.
                let place = data.bytes.withUnsafeReadableBytes { Int(bitPattern: $0.baseAddress) }
                #expect(place.isMultiple(of: FileWriter.pageBytes), "number \(received.count)")
                received.append(data)
                // Every second one is used again.
                if received.count.isMultiple(of: 2) { buffers.giveBack(data.bytes) }
            }
        }
        #expect(received == data)
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
