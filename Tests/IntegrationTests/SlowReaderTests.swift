import CloudKit
import CloudKitTesting
import Foundation
import RecordClient
import RecordModel
import TestSupport
import Testing
import WireProtocol

/// A client that asks for much and never reads the answers.
struct SlowReaderTests {
    @Test(.timeLimit(.minutes(10)))
    func `a client that grants no credit is let go, and others are served meanwhile`() async throws {
        var options = TestServer.Options()
        options.slowReaderTimeout = .milliseconds(200)
        try await Desk.run(options) { desk in
            let data = Data(count: 500_000)
            try await desk.database.save(desk.record("a", ["data": data]))
            let connection = try await desk.server.connection(for: "alice")
            let folder = try TemporaryDirectory()
            guard case .pem(let authority) = connection.certificateAuthority,
                let port = connection.url.split(separator: ":").last.flatMap({ Int($0) })
            else { return }
            try authority.write(toFile: folder.path + "/ca.pem", atomically: true, encoding: .utf8)

            let peer = try await RawPeer.connect(port: port, authorityFile: folder.path + "/ca.pem")
            let hello = Hello(
                container: TestServer.defaultContainerIdentifier,
                environment: .development,
                accessToken: connection.token ?? "",
                client: "raw",
                windows: Windows(connectionBytes: 65_536, streamBytes: 65_536)
            )
            await peer.send(Frame(kind: .hello, payload: hello.encoded()))
            #expect(await peer.next()?.kind == .welcome)
            let id = RecordID(zone: ZoneID(zoneName: "desk"), recordName: "a")
            for stream in 0..<20 {
                let request = Request(
                    requestID: nil,
                    deadlineMilliseconds: 0,
                    operation: .fetchRecords(FetchRecords(scope: .private, ids: [id]))
                )
                await peer.send(
                    Frame(kind: .request, stream: UInt32(stream * 2 + 1), payload: request.encoded())
                )
            }
            // The window lets one answer through; the connection ends while the others wait.
            let meanwhile = try await desk.database.record(for: desk.id("a"))
            #expect(meanwhile["data"] as? Data == data)
            #expect(try await peer.closeReason() == .slowReader)
            let afterwards = try await desk.database.record(for: desk.id("a"))
            #expect(afterwards["data"] as? Data == data)
        }
    }
}
