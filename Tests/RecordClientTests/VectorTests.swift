import NIOCore
import TestSupport
import Testing
import WireProtocol

@testable import RecordClient

/// The golden bytes of a server's messages, sent to a client as a server would.
@Suite struct VectorTests {
    /// Messages that only a client sends, and those that have no frame of their own, say nothing to a client.
    private static let kinds: [String: FrameKind] = [
        "Welcome": .welcome, "GoAway": .goaway, "Items": .items, "End": .end, "Credit": .credit,
    ]

    private static func vectors(refused: Bool) throws -> [Vector] {
        try Vector.all().filter { self.kinds[$0.message] != nil && $0.error.isEmpty != refused }
    }

    @Test func `a permitted message of a server is no violation`() throws {
        let vectors = try Self.vectors(refused: false)
        #expect(vectors.count >= 10)
        for vector in vectors {
            let events = try self.events(after: vector)
            let isViolation = events.contains { event in
                // The largest credit is one, but too much for a window that is not empty.
                guard case .failure(.protocolViolation(let error)) = event else { return false }
                return error != WireError(.outOfBounds, field: "Credit.bytes")
            }
            #expect(!isViolation, "\(vector)")
        }
    }

    @Test
    func `a forbidden message of a server ends the connection, or the reading of a record, with its reason`()
        throws
    {
        let vectors = try Self.vectors(refused: true)
        #expect(vectors.count >= 8)
        for vector in vectors {
            let reason: CloseReason =
                vector.error["close_reason"] == "credit_invalid" ? .creditInvalid : .messageMalformed
            let events = try self.events(after: vector)
            guard let error = try Self.violation(events.last, vector) else {
                Issue.record("\(vector): \(events)")
                continue
            }
            #expect(error.closeReason == reason, "\(vector)")
        }
    }

    /// What is wrong with a message, be it found when it came or when a record of it is read.
    private static func violation(_ last: Answer.Event?, _ vector: Vector) throws -> WireError? {
        if case .failure(.protocolViolation(let error)) = last { return error }
        guard vector.message == "Items" else { return nil }
        for item in try Items(decoding: ByteBuffer(bytes: vector.bytes)).items {
            guard case .record(let message) = item.outcome else { continue }
            do throws(WireError) {
                _ = try message.record()
            } catch {
                return error
            }
        }
        return nil
    }

    /// What the caller of a request is told when the bytes come in the place where their message belongs.
    private func events(after vector: Vector) throws -> [Answer.Event] {
        let server = ScriptedServer()
        let request = server.start(.fetch(400))
        let kind = try #require(Self.kinds[vector.message])
        let payload = ByteBuffer(bytes: vector.bytes)
        if kind == .welcome {
            let connection = try #require(server.connections.first)
            connection.agree(on: "tidemark/1")
            try connection.send(kind, payload)
        } else {
            let connection = try server.accept()
            let isOfStream = kind == .items || kind == .end
            try connection.send(kind, stream: isOfStream ? 1 : 0, payload)
        }
        return request.answer.events
    }
}
