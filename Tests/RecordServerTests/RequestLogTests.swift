import Logging
import NIOCore
import RecordModel
import Testing
import WireProtocol

@testable import RecordServer

/// Lines of the log about a request name it, and whose it was.
@Suite(.timeLimit(.minutes(10)))
struct RequestLogTests {
    private static let id = RequestID(high: 0x0000_0001_d37a_7bc1, low: 0x8def_0123_4567_89ab)
    private static let text = "00000001-d37a-7bc1-8def-0123456789ab"

    private func names(_ line: RecordingLog.Line) -> [String: String] {
        line.metadata.filter {
            ["container", "user", "stream", "operation", "request", "code"].contains($0.key)
        }
    }

    @Test
    func `a change that fails has its ID, operation, stream, connection and user`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            // Made in 1970: its ID may have been forgotten.
            let request = Request(
                requestID: Self.id,
                deadlineMilliseconds: 0,
                operation: .save(["a"])
            )
            try await peer.send(Frame(kind: .request, stream: 1, payload: request.encoded()))
            let failure = try #require(try await peer.answer(on: 1).end.failure)
            await peer.close()
            let signedIn = try #require(server.log.lines.first { $0.message == "signed in" })
            let failed = server.log.lines.filter { $0.message == "a request failed" }
            #expect(failed.count == 1)
            let line = try #require(failed.first)
            #expect(line.level == .debug)
            #expect(
                self.names(line) == [
                    "container": ServerUnderTest.container, "user": ServerUnderTest.userRecordName,
                    "stream": "1", "operation": "modify_records", "request": Self.text,
                    "code": ErrorCode.names[failure.code] ?? "",
                ]
            )
            #expect(line.metadata["connection"] == signedIn.metadata["connection"])
            #expect(line.metadata["peer"] == signedIn.metadata["peer"])
            #expect(line.metadata["peer"]?.isEmpty == false)
        }
    }

    @Test
    func `a request that is refused before it is executed is named, too`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            // More records than a request may have.
            try await peer.send(Operation.fetch((0...400).map { "\($0)" }), on: 1)
            let failure = try #require(try await peer.answer(on: 1).end.failure)
            await peer.close()
            let line = try #require(server.log.lines.first { $0.message == "a request failed" })
            #expect(self.names(line)["code"] == ErrorCode.names[failure.code])
            #expect(self.names(line)["stream"] == "1")
            #expect(self.names(line)["user"] == ServerUnderTest.userRecordName)
            #expect(self.names(line)["request"] == nil)
        }
    }

    @Test
    func `connections have numbers of their own, also in the line about their end`() async throws {
        try await ServerUnderTest.run { server in
            for _ in 0..<2 {
                let peer = try await server.signIn()
                try await peer.send(Frame(kind: .welcome, payload: .init()))
                _ = await peer.rest()
            }
            let ends = server.log.lines.filter { $0.message == "connection closed" }
            let begins = server.log.lines.filter { $0.message == "signed in" }
            #expect(ends.count == 2)
            #expect(ends.map { $0.metadata["connection"] } == begins.map { $0.metadata["connection"] })
            #expect(Set(ends.map { $0.metadata["connection"] }).count == 2)
            #expect(ends.allSatisfy { $0.metadata["user"] == ServerUnderTest.userRecordName })
        }
    }
}
