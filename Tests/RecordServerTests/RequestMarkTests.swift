import NIOCore
import RecordModel
import Testing
import WireProtocol

@testable import RecordServer

/// What a request is known by when it comes again.
struct RequestMarkTests {
    private static let installation = [UInt8](repeating: 7, count: 16)

    private func mark(
        _ records: [String],
        id: UInt8? = 1,
        deadline: UInt32 = 0,
        installation: [UInt8] = Self.installation,
        movedBy bytes: Int = 0
    ) -> RequestMark {
        let request = Request(
            requestID: id.map { RequestID(bytes: [UInt8](repeating: $0, count: 16)) } ?? nil,
            deadlineMilliseconds: deadline,
            operation: .save(records)
        )
        var buffer = ByteBuffer(repeating: 0xFF, count: bytes)
        buffer.moveReaderIndex(forwardBy: bytes)
        request.encode(into: &buffer)
        return RequestMark(buffer, installation: installation)
    }

    @Test
    func `neither its ID nor its deadline, nor where it lies in memory, changes the mark`() {
        let first = self.mark(["a"])
        #expect(first != .none)
        #expect(self.mark(["a"], id: 2) == first)
        #expect(self.mark(["a"], id: nil) == first)
        #expect(self.mark(["a"], deadline: 1) == first)
        #expect(self.mark(["a"], deadline: 3_600_000) == first)
        #expect(self.mark(["a"], movedBy: 3) == first)
    }

    @Test
    func `what is asked for does, to the last byte, and who asks`() {
        let first = self.mark(["a"])
        #expect(self.mark(["b"]) != first)
        #expect(self.mark(["a", "b"]) != first)
        #expect(self.mark(["ab"]) != first)
        #expect(self.mark(["a"], installation: [1]) != first)
        let many = (0..<1_000).map { "record-\($0)" }
        let large = self.mark(many)
        #expect(self.mark(many, id: 9, deadline: 5) == large)
        #expect(self.mark(["RECORD-0"] + many.dropFirst()) != large)
        #expect(self.mark(many.dropLast() + ["record-99X"]) != large)
        #expect(self.mark(many + ["1"]) != large)
    }

    @Test
    func `every beginning of a request has a mark`() {
        var buffer = ByteBuffer()
        Request(requestID: nil, deadlineMilliseconds: 300, operation: .save(["a"])).encode(into: &buffer)
        for count in 0...buffer.readableBytes {
            let part = buffer.getSlice(at: 0, length: count) ?? ByteBuffer()
            #expect(RequestMark(part, installation: []) != .none)
        }
        #expect(RequestMark(ByteBuffer(bytes: [0x10]), installation: []) != .none)
        #expect(RequestMark(ByteBuffer(bytes: [0x10, 0x80]), installation: []) != .none)
    }
}
