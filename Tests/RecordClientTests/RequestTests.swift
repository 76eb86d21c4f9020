import NIOCore
import RecordModel
import Testing
import WireProtocol

@testable import RecordClient

/// Requests and answers on one connection.
@Suite struct RequestTests {
    @Test func `the first frame is a hello with the configured identity, sent after TLS`() throws {
        let server = ScriptedServer { $0.installationID = Array(0..<16) }
        _ = server.start(.fetch())
        let connection = try #require(server.connections.first)
        #expect(try connection.frames().isEmpty)
        connection.agree(on: "tidemark/1")
        let frame = try #require(try connection.frames().first)
        #expect(frame.kind == .hello && frame.stream == 0 && frame.flags == 0)
        let hello = try Hello(decoding: frame.payload)
        #expect(hello.versions == [1])
        #expect(hello.container == "iCloud.example" && hello.environment == .development)
        #expect(hello.accessToken == "secret" && hello.installationID == Array(0..<16))
        #expect(hello.windows == .defaults)
    }

    @Test func `requests wait for the welcome, then leave in order and in one write`() throws {
        let server = ScriptedServer()
        let answers = [server.start(.fetch(1)), server.start(.delete(2)), server.start(.fetch(3))]
        let connection = try server.accept()
        let writes = try connection.writes()
        #expect(writes.count == 1)
        let frames = try #require(writes.first)
        #expect(frames.map(\.kind) == [.request, .request, .request])
        #expect(frames.map(\.stream) == [1, 3, 5])
        let requests = try frames.map { try Request(decoding: $0.payload) }
        #expect(requests.map(\.operation) == [.fetch(1), .delete(2), .fetch(3)])
        #expect(requests[0].requestID == nil && requests[2].requestID == nil)
        let requestID = try #require(requests[1].requestID)
        #expect(requestID.milliseconds == 1_700_000_000_000, "the server's clock")
        #expect(answers.allSatisfy { $0.answer.events.isEmpty })
    }

    /// The server's clock is years behind this machine's here.
    @Test func `an ID has the server's time, also long after the welcome`() throws {
        let server = ScriptedServer()
        _ = server.start(.fetch(1), requestTimeout: .seconds(100_000), resourceTimeout: .seconds(100_000))
        let connection = try server.accept()
        _ = try connection.requests()
        for step in 1...1_800 {
            server.pass(.seconds(5))
            // Pings keep the connection.
            for frame in try connection.frames() where frame.kind == .ping {
                try connection.send(.pong, frame.payload)
            }
            guard step % 600 == 0 else { continue }
            let request = server.start(.delete(1))
            let sent = try #require(try connection.requests().last)
            let time = try #require(sent.request.requestID?.milliseconds)
            #expect(time == 1_700_000_000_000 + Int64(step) * 5_000)
            try connection.items(.deleted(0), on: sent.stream)
            try connection.end(sent.stream)
            #expect(request.answer.events.last == .success)
        }
    }

    @Test func `answers come in any order and items before ends`() throws {
        let server = ScriptedServer()
        let first = server.start(.delete(3))
        let second = server.start(.delete(1))
        let connection = try server.accept()
        _ = try connection.requests()
        try connection.items(.deleted(0), on: 3)
        try connection.items(.deleted(2, 0), on: 1)
        try connection.end(3)
        try connection.items(.deleted(1), on: 1)
        try connection.end(1)
        #expect(second.answer.events == [.items([0]), .success])
        #expect(first.answer.events == [.items([2, 0]), .items([1]), .success])
        #expect(connection.isOpen)
    }

    @Test func `a refusal of the whole request is told as it is`() throws {
        let server = ScriptedServer()
        let request = server.start(.fetch())
        let connection = try server.accept()
        _ = try connection.requests()
        let failure = Failure(code: .requestRateLimited, message: "later", retry: .after(milliseconds: 5))
        try connection.end(1, failure)
        #expect(request.answer.events == [.failure(.refused(failure))])
    }

    @Test func `a list of all zones comes when it is whole`() throws {
        let server = ScriptedServer()
        let request = server.start(.allZones)
        let connection = try server.accept()
        _ = try connection.requests()
        try connection.items(.deleted(0, 1), on: 1)
        #expect(request.answer.events.isEmpty)
        try connection.items(.deleted(2), on: 1)
        try connection.end(1)
        #expect(request.answer.events == [.items([0, 1]), .items([2]), .success])
    }

    @Test func `no more requests are in flight than the server allows, and an end lets the next one go`()
        throws
    {
        let server = ScriptedServer()
        var limits = Limits.defaults
        limits.inFlightMax = 2
        for _ in 0..<4 { _ = server.start(.fetch()) }
        let connection = try server.accept(limits: limits)
        #expect(try connection.requests().map(\.stream) == [1, 3])
        try connection.end(3)
        #expect(try connection.requests().map(\.stream) == [5])
        try connection.end(1)
        #expect(try connection.requests().map(\.stream) == [7])
    }

    @Test func `requests wait for credit and leave first come, first served`() throws {
        let server = ScriptedServer()
        _ = server.start(.fetch(400))
        _ = server.start(.fetch(1))
        let connection = try server.accept(windowBytes: 65_536)
        #expect(try connection.requests().count == 2, "a small request and one behind it fit")
        let spent = 65_536
        _ = server.start(.fetch(400))
        _ = server.start(.fetch(399))
        var sent = try connection.frames()
        while !sent.isEmpty {
            _ = server.start(.fetch(400))
            sent = try connection.frames()
        }
        try connection.send(.credit, Credit(bytes: UInt32(spent)).encoded())
        let released = try connection.requests()
        #expect(released.first?.request.operation == .fetch(400))
    }

    @Test func `too many items or bytes are refused without being sent`() throws {
        let server = ScriptedServer()
        let atLimit = server.start(.delete(400))
        let above = server.start(.delete(401))
        let connection = try server.accept()
        #expect(try connection.requests().map(\.request.operation) == [.delete(400)])
        #expect(atLimit.answer.events.isEmpty)
        guard case .failure(.refused(let failure))? = above.answer.events.first else {
            Issue.record("not refused: \(above.answer.events)")
            return
        }
        #expect(failure.code == .limitExceeded && failure.retry == .afterChange)
        #expect(
            failure.message
                == "Your request contains 401 items which is more than the maximum number of items "
                + "in a single request (400)"
        )
    }

    @Test(arguments: [0, 1])
    func `a request of the longest size is sent and one byte more is not`(excess: UInt32) throws {
        let server = ScriptedServer()
        let request = server.start(.fetch(10))
        let payloadBytes = Request(requestID: nil, deadlineMilliseconds: 60_000, operation: .fetch(10))
            .encoded().readableBytes
        var limits = Limits.defaults
        limits.requestBytesMax = UInt32(payloadBytes) - excess
        let connection = try server.accept(limits: limits)
        #expect(try connection.requests().count == 1 - Int(excess))
        #expect(request.answer.events.count == Int(excess))
    }

    @Test(arguments: [(9, true), (10, false), (0, false)] as [(UInt64, Bool)])
    func `an asset that is larger than the server takes is not announced`(
        assetBytesMax: UInt64,
        isRefused: Bool
    ) throws {
        let server = ScriptedServer()
        let asset = Asset(sha256: Array(repeating: 1, count: 32), size: 10)
        let request = server.start(.uploadAssets(UploadAssets(scope: .private, assets: [asset])))
        var limits = Limits.defaults
        limits.assetBytesMax = assetBytesMax
        let connection = try server.accept(limits: limits)
        #expect(try connection.requests().isEmpty == isRefused)
        guard isRefused else { return }
        guard case .failure(.refused(let failure))? = request.answer.events.first else {
            Issue.record("not refused: \(request.answer.events)")
            return
        }
        #expect(failure.code == .limitExceeded && failure.cause == .dependsOn(index: 0))
    }

    @Test func `half of the windows is granted back after the items were handed over`() throws {
        let server = ScriptedServer {
            $0.windows = Windows(connectionBytes: 131_072, streamBytes: 65_536)
        }
        let request = server.start(.fetch(400))
        let connection = try server.accept()
        _ = try connection.requests()
        let failure = Failure(
            code: .unknownItem,
            message: String(repeating: "x", count: 1_000),
            retry: .never
        )
        let items = (0..<31).map { Item(index: $0, outcome: .failure(failure)) }
        let payload = Items(items: items).encoded()
        try #require(payload.readableBytes < 32_768)
        try connection.send(.items, stream: 1, payload)
        #expect(try connection.frames().isEmpty)
        let one = Items(items: [Item(index: 31, outcome: .failure(failure))]).encoded()
        try connection.send(.items, stream: 1, one)
        let two = Items(items: [Item(index: 32, outcome: .failure(failure))]).encoded()
        try connection.send(.items, stream: 1, two)
        let grants = try connection.frames()
        #expect(grants.map(\.kind) == [.credit] && grants.map(\.stream) == [1])
        let bytes = try Credit(decoding: try #require(grants.first).payload).bytes
        #expect(bytes == UInt32(payload.readableBytes + one.readableBytes + two.readableBytes))
        #expect(request.answer.events.count == 3)
    }

    @Test func `pings are answered with their own bytes`() throws {
        let server = ScriptedServer()
        _ = server.start(.fetch())
        let connection = try server.accept()
        _ = try connection.requests()
        try connection.send(.ping, Ping(value: 0x0102_0304_0506_0708).encoded())
        let frames = try connection.frames()
        #expect(frames == [Frame(kind: .pong, payload: Ping(value: 0x0102_0304_0506_0708).encoded())])
    }

    @Test func `the deadline sent is what is left of the time, at most what the server allows`() throws {
        let server = ScriptedServer { $0.connectTimeout = .seconds(100) }
        _ = server.start(.fetch(), resourceTimeout: .seconds(30))
        _ = server.start(.fetch(), resourceTimeout: .seconds(90))
        server.pass(.milliseconds(1_500))
        let connection = try server.accept()
        #expect(try connection.requests().map(\.request.deadlineMilliseconds) == [28_500, 60_000])
    }
}
