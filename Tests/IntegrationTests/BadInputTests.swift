import Foundation
import NIOCore
import RecordClient
import RecordModel
import TestSupport
import Testing
import WireProtocol

/// Bytes that no client of ours sends, against the real executable: it says why, logs a line, and goes on.
@Suite(.serialized)
struct BadInputTests {
    private static let container = "iCloud.bad"

    private struct Target {
        let server: ServerProcess
        let token: String

        func peer() async throws -> RawPeer {
            try await RawPeer.connect(port: self.server.port, authorityFile: self.server.authorityPath)
        }

        /// A well-behaved client is served as if nothing had happened.
        func expectService(sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let client = RecordClient(
                configuration: ClientConfiguration(
                    host: "localhost",
                    port: self.server.port,
                    trust: .authorities(file: self.server.authorityPath),
                    container: BadInputTests.container,
                    accessToken: self.token
                )
            )
            let all = Operation.fetchZones(FetchZones(scope: .private, selection: .all))
            let outcomes = try await client.perform(all, timeout: .seconds(600))
            #expect(outcomes.count == 1, sourceLocation: sourceLocation)
            await client.shutdown()
        }
    }

    private static func run(_ body: (Target) async throws -> Void) async throws {
        let server = try ServerProcess()
        try await server.administer(["container", "create", self.container])
        let token = try await server.administer(["user", "add", "alice", "--container", self.container])
        try await server.start()
        let target = Target(server: server, token: token)
        try await body(target)
        try await target.expectService()
        #expect(await server.end(SIGTERM) == 0)
    }

    private static func hello(token: String) -> Frame {
        let hello = Hello(
            container: self.container,
            environment: .development,
            accessToken: token,
            client: "raw"
        )
        return Frame(kind: .hello, payload: hello.encoded())
    }

    @Test(.timeLimit(.minutes(10)))
    func `random bytes close the connection and cost a line in the log`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("BadInputTests: SEED=\(generator.seed)")
        try await Self.run { target in
            for _ in 0..<20 {
                let bytes = (0..<Int.random(in: 1...4_000, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                let plain = try await RawPeer.connect(port: target.server.port, authorityFile: nil)
                await plain.send(bytes)
                try? await plain.channel.close(mode: .output)
                _ = try await plain.closeReason()

                let peer = try await target.peer()
                await peer.send(bytes)
                // The bytes may be the beginning of a frame: with its end the server knows better.
                try? await peer.channel.close()
                _ = try await peer.closeReason()
            }
            #expect(target.server.log().split(separator: "\n").count < 200)
            #expect(try target.server.residentBytes() < 256 * 1_024 * 1_024)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a client without the protocol's name is not talked to`() async throws {
        try await Self.run { target in
            for names in [[], ["h2"]] {
                let peer = try await RawPeer.connect(
                    port: target.server.port,
                    authorityFile: target.server.authorityPath,
                    applicationProtocols: names
                )
                await peer.send(Self.hello(token: target.token))
                #expect(await peer.next() == nil)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a frame of nothing, of 4 GiB, and a request before the handshake are violations`() async throws {
        try await Self.run { target in
            let cases: [([UInt8], CloseReason)] = [
                ([0, 0, 0, 0, 1, 0, 0, 0, 0, 0], .messageMalformed),
                ([0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 0, 0], .frameTooLarge),
                ([0, 0, 0x10, 0x01, 1, 0, 0, 0, 0, 0], .frameTooLarge),
                ([0, 0, 0, 0, 4, 0, 0, 0, 0, 1], .requestBeforeHello),
            ]
            for (bytes, reason) in cases {
                let peer = try await target.peer()
                await peer.send(bytes)
                #expect(try await peer.closeReason() == reason)
            }
            #expect(try target.server.residentBytes() < 256 * 1_024 * 1_024)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a wrong token and a revoked one are refused with the same reason`() async throws {
        try await Self.run { target in
            let revoked = try await target.server.administer([
                "user", "add", "bob", "--container", Self.container,
            ])
            try await target.server.administer(["user", "revoke", "bob", "--container", Self.container])
            for token in ["tmk_nobody", revoked] {
                let peer = try await target.peer()
                await peer.send(Self.hello(token: token))
                #expect(try await peer.closeReason() == .notAuthenticated)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a second hello and a frame of 4 GiB after the handshake end the connection`() async throws {
        try await Self.run { target in
            let zones = Operation.fetchZones(FetchZones(scope: .private, selection: .all))
            let request = Request(requestID: nil, deadlineMilliseconds: 0, operation: zones).encoded()
            let cases: [([UInt8], CloseReason)] = [
                ([0xFF, 0xFF, 0xFF, 0xFF, 4, 0, 0, 0, 0, 1], .frameTooLarge),
                (Self.bytes(Self.hello(token: target.token)), .secondHello),
                (Self.bytes(Frame(kind: .request, stream: 2, payload: request)), .streamInvalid),
                ([0, 0, 0, 0, 120, 0, 0, 0, 0, 0], .frameKindUnexpected),
            ]
            for (bytes, reason) in cases {
                let peer = try await target.peer()
                await peer.send(Self.hello(token: target.token))
                #expect(await peer.next()?.kind == .welcome)
                await peer.send(bytes)
                #expect(try await peer.closeReason() == reason, "\(bytes.prefix(10))")
            }
        }
    }

    private static func bytes(_ frame: Frame) -> [UInt8] {
        var buffer = ByteBuffer()
        FrameEncoder.write(frame, into: &buffer)
        return Array(buffer.readableBytesView)
    }

    @Test(.timeLimit(.minutes(10)))
    func `names that are too long are refused item by item, and 255 bytes are taken`() async throws {
        try await Self.run { target in
            let client = RecordClient(
                configuration: ClientConfiguration(
                    host: "localhost",
                    port: target.server.port,
                    trust: .authorities(file: target.server.authorityPath),
                    container: Self.container,
                    accessToken: target.token
                )
            )
            let saves = [256, 255].map { length in
                RecordSave(
                    id: RecordID(zone: .default, recordName: String(repeating: "n", count: length)),
                    recordType: "Item",
                    changes: .empty
                )
            }
            let outcomes = try await client.perform(
                .modifyRecords(ModifyRecords(scope: .private, saves: saves)),
                timeout: .seconds(600)
            )
            guard case .failure(let failure)? = outcomes[0], case .recordSaved? = outcomes[1] else {
                Issue.record("\(outcomes)")
                return
            }
            #expect(failure.code == .invalidArguments)
            await client.shutdown()
        }
    }
}
