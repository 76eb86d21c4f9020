import NIOCore
import NIOTestUtils
import Testing
import WireProtocol

@Suite struct FrameTests {
    static let frames: [Frame] = [
        Frame(kind: .cancel, stream: 1),
        Frame(kind: .ping, payload: ByteBuffer(integer: UInt64.max)),
        Frame(kind: FrameKind(rawValue: 255), flags: 255, stream: .max, payload: ByteBuffer(bytes: [0])),
        Frame(kind: .request, stream: 3, payload: ByteBuffer(repeating: 0x55, count: 4096)),
    ]

    @Test func `frames come out whole however the stream is cut`() throws {
        let pairs = Self.frames.map { frame in
            var bytes = ByteBuffer()
            FrameEncoder.write(frame, into: &bytes)
            return (bytes, [frame])
        }
        try ByteToMessageDecoderVerifier.verifyDecoder(inputOutputPairs: pairs) { FrameDecoder() }
    }

    @Test(arguments: [0, 1, 9, 10, 17])
    func `a frame that is incomplete is waited for and nothing of it is taken`(length: Int) throws {
        var whole = ByteBuffer()
        FrameEncoder.write(Self.frames[1], into: &whole)
        var prefix = try #require(whole.getSlice(at: 0, length: length))
        #expect(try FrameDecoder().decode(buffer: &prefix) == nil)
        #expect(prefix.readableBytes == length)
    }

    @Test(arguments: [0, 4_095, 4_096, 4_097, UInt32.max])
    func `a header beyond the limit is refused before its payload comes`(payloadBytes: UInt32) throws {
        var header = ByteBuffer()
        header.writeMultipleIntegers(payloadBytes, FrameKind.hello.rawValue, UInt8(0), UInt32(0))
        let decoder = FrameDecoder()
        if payloadBytes > 4_096 {
            #expect(throws: WireError(.frameTooLarge, field: "payload bytes")) {
                try decoder.decode(buffer: &header)
            }
        } else {
            let frame = try decoder.decode(buffer: &header)
            #expect((frame != nil) == (payloadBytes == 0))
        }
    }

    @Test func `the limit can be raised between two frames`() throws {
        var bytes = ByteBuffer()
        FrameEncoder.write(Self.frames[0], into: &bytes)
        FrameEncoder.write(
            Frame(kind: .request, payload: ByteBuffer(repeating: 0, count: 5_000)),
            into: &bytes
        )
        let decoder = FrameDecoder()
        #expect(try decoder.decode(buffer: &bytes) == Self.frames[0])
        decoder.payloadBytesMax = 5_000
        #expect(try decoder.decode(buffer: &bytes)?.payload.readableBytes == 5_000)
    }

    @Test func `a payload that is written in place gives the same frame`() throws {
        var separate = ByteBuffer(string: "before")
        FrameEncoder.write(Self.frames[3], into: &separate)
        var inPlace = ByteBuffer(string: "before")
        let payloadBytes = FrameEncoder.write(.request, stream: 3, into: &inPlace) { buffer in
            buffer.writeRepeatingByte(0x55, count: 4096)
        }
        #expect(payloadBytes == 4096)
        #expect(separate == inPlace)
    }
}
