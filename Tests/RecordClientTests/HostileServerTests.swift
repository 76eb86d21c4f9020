import NIOCore
import RecordModel
import Testing
import WireProtocol

@testable import RecordClient

/// What a server that is broken or hostile gets of a client: no more than `ClientBounds`.
@Suite struct HostileServerTests {
    private static func header(_ kind: UInt8, payloadBytes: Int, stream: UInt32 = 1) -> ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeMultipleIntegers(UInt32(payloadBytes), kind, UInt8(0), stream)
        return bytes
    }

    private static var limitless: Limits {
        var limits = Limits.defaults
        limits.frameBytesMax = .max
        limits.responseBytesMax = .max
        limits.inFlightMax = .max
        limits.idleTimeoutMilliseconds = .max
        return limits
    }

    /// The header is enough: nothing is waited for.
    @Test(arguments: [
        (FrameKind.end, ClientBounds.frameBytesMax), (.items, ClientBounds.frameBytesMax),
        (.notification, FrameKind.smallPayloadBytesMax),
        (FrameKind(rawValue: 200), FrameKind.smallPayloadBytesMax),
    ])
    func `a frame that is longer than a client takes ends the connection, whatever the welcome says`(
        kind: FrameKind,
        payloadBytesMax: Int
    ) throws {
        let server = ScriptedServer()
        let request = server.start(.fetch())
        let connection = try server.accept(limits: Self.limitless)
        _ = try connection.requests()
        try connection.send(Self.header(kind.rawValue, payloadBytes: payloadBytesMax + 1))
        #expect(!connection.isOpen)
        let error = WireError(.frameTooLarge, field: "payload bytes")
        #expect(request.answer.events == [.failure(.protocolViolation(error))])
    }

    @Test func `a frame as long as a client takes is waited for`() throws {
        let server = ScriptedServer()
        let request = server.start(.fetch())
        let connection = try server.accept(limits: Self.limitless)
        _ = try connection.requests()
        try connection.send(Self.header(FrameKind.end.rawValue, payloadBytes: ClientBounds.frameBytesMax))
        #expect(connection.isOpen && request.answer.events.isEmpty)
    }

    private static let lists: [(operation: Operation, itemsMax: Int)] = [
        (
            .queryRecords(QueryRecords(scope: .public, start: .query(Query(recordType: "Note"), zone: nil))),
            400
        ),
        (
            .queryRecords(
                QueryRecords(scope: .public, start: .query(Query(recordType: "Note"), zone: nil), limit: 3)
            ), 3
        ),
        (.fetchChanges(FetchChanges(scope: .private, zone: .default)), 1_000),
        (.fetchChanges(FetchChanges(scope: .private, zone: .default, limit: 10)), 10),
        (.fetchDatabaseChanges(FetchDatabaseChanges(scope: .private)), 1_000),
        (.allZones, 10_000),
        (.fetchSubscriptions(FetchSubscriptions(scope: .private, selection: .all)), 10_000),
    ]

    @Test(arguments: lists.indices)
    func `a list has as many items as its request may have, and not one more`(row: Int) throws {
        let (operation, itemsMax) = Self.lists[row]
        let server = ScriptedServer()
        let request = server.start(operation)
        let connection = try server.accept(limits: Self.limitless)
        _ = try connection.requests()
        for start in stride(from: 0, to: itemsMax, by: 1_000) {
            let items = (start..<min(start + 1_000, itemsMax)).flatMap { [Item].deleted(UInt32($0)) }
            try connection.items(items, on: 1)
        }
        #expect(connection.isOpen)
        try connection.items(.deleted(UInt32(itemsMax)), on: 1)
        #expect(!connection.isOpen)
        let error = WireError(.outOfBounds, field: "Items.items")
        #expect(request.answer.events == [.failure(.protocolViolation(error))])
    }

    /// Both a list, which is kept until its end, and the items of a fetch.
    @Test(arguments: [Operation.fetch(400), lists[0].operation])
    func `the items of a response have a bound in bytes`(operation: Operation) throws {
        let server = ScriptedServer()
        var limits = Limits.defaults
        limits.responseBytesMax = 65_536
        limits.frameBytesMax = 65_536
        let request = server.start(operation)
        let connection = try server.accept(limits: limits)
        _ = try connection.requests()
        let text = String(repeating: "x", count: 60_000)
        let bytesMax = 65_536 + 400 * ClientBounds.itemFramingBytesMax
        var sent = 0
        for index in 0..<UInt32(400) where connection.isOpen {
            let record = Record.sample(index, text: text)
            let payload = Items(items: [Item(index: index, outcome: .record(RecordMessage(record)))])
                .encoded()
            sent += payload.readableBytes
            try connection.send(.items, stream: 1, payload)
            _ = try connection.frames()
            #expect(connection.isOpen == (sent <= bytesMax))
        }
        #expect(!connection.isOpen && sent > bytesMax)
        let error = WireError(.outOfBounds, field: "Items.items")
        #expect(request.answer.events.last == .failure(.protocolViolation(error)))
    }

    @Test func `an end without an end is refused after as many fields as an end may have`() throws {
        let server = ScriptedServer()
        let request = server.start(.fetch())
        let connection = try server.accept(limits: Self.limitless)
        _ = try connection.requests()
        // Empty failures.
        let payload = ByteBuffer(bytes: (0..<20_000).flatMap { _ in [0x0A, 0x00] as [UInt8] })
        try connection.send(.end, stream: 1, payload)
        let error = WireError(.outOfBounds, field: "end")
        #expect(request.answer.events == [.failure(.protocolViolation(error))])
    }

    @Test func `a frame has a bound on its items`() {
        // One deleted item.
        let item: [UInt8] = [0x0A, 0x02, 0x22, 0x00]
        let payload = ByteBuffer(bytes: (0...ClientBounds.frameItemsMax).flatMap { _ in item })
        #expect(throws: WireError.self) { try Items(decoding: payload) }
    }

    @Test func `no server keeps a client away for longer than an hour`() throws {
        let server = ScriptedServer()
        _ = server.start(.fetch(), requestTimeout: .seconds(100_000), resourceTimeout: .seconds(100_000))
        let connection = try server.accept()
        try connection.goAway(.overloaded, retryAfterMilliseconds: .max)
        server.pass(.minutes(59))
        #expect(server.connections.count == 1)
        server.pass(.minutes(2))
        #expect(server.connections.count > 1)
    }

    @Test func `pings get one pong once the socket takes bytes again`() throws {
        let server = ScriptedServer()
        _ = server.start(.fetch())
        let connection = try server.accept()
        _ = try connection.requests()
        connection.socket(isWritable: false)
        for value in 1...100 as ClosedRange<UInt64> {
            try connection.send(.ping, Ping(value: value).encoded())
        }
        #expect(try connection.frames().isEmpty)
        connection.socket(isWritable: true)
        let frames = try connection.frames()
        #expect(frames.map(\.kind) == [.pong])
        #expect(try frames.map { try Ping(decoding: $0.payload).value } == [100])
    }
}

extension Record {
    fileprivate static func sample(_ number: UInt32, text: String) -> Record {
        Record(
            id: RecordID(zone: .default, recordName: "note-\(number)"),
            recordType: "Note",
            changeTag: "1",
            system: SystemFields(
                createdMilliseconds: 0,
                modifiedMilliseconds: 0,
                createdBy: "",
                modifiedBy: ""
            ),
            body: RecordBody([Field(name: "text", value: .string(text))])
        )
    }
}
