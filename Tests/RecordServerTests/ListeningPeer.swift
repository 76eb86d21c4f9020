import Crypto
import NIOCore
import RecordModel
import RecordServer
import RecordStore
import SQLiteEngine
import Testing
import WireProtocol

// Connections that listen, and what others do meanwhile.
extension ServerUnderTest {
    static let installation = [UInt8](repeating: 1, count: 16)
    static let otherToken = "another token"
    static let otherUserRecordName = "_fedcba9876543210fedcba9876543210"

    /// Signed in, and listening on stream 1.
    func listen(
        installation: [UInt8] = Self.installation,
        token: String = Self.token,
        windows: Windows = .defaults
    ) async throws -> TestPeer {
        let peer = try await self.signIn(installation: installation, token: token, windows: windows)
        try await peer.send(.listen, on: 1)
        let answer = try await peer.answer(on: 1)
        guard answer.end.failure == nil else { throw UnexpectedFrame(frame: nil) }
        return peer
    }

    func signIn(
        installation: [UInt8],
        token: String = Self.token,
        windows: Windows = .defaults
    ) async throws -> TestPeer {
        let peer = try await self.connect()
        try await peer.send(.hello(token: token, installation: installation, windows: windows))
        guard let frame = await peer.next(), frame.kind == .welcome else { throw UnexpectedFrame(frame: nil) }
        return peer
    }

    /// A second user of the container.
    func addOther() throws {
        try self.store.directory.addUser(
            named: "other",
            userRecordName: Self.otherUserRecordName,
            tokenHash: Array(SHA256.hash(data: Array(Self.otherToken.utf8))),
            toContainer: Self.container
        )
    }

    /// A connection that does things and does not listen; the zone is there.
    func writer() async throws -> Writer {
        let writer = Writer(peer: try await self.signIn())
        try await writer.succeed(.modifyZones(ModifyZones(scope: .private, saves: [Self.zone])))
        return writer
    }
}

/// Asks for one thing after the other, each of which must succeed.
final class Writer {
    let peer: TestPeer
    private var lastStream: UInt32

    init(peer: TestPeer, lastStream: UInt32 = 1) {
        self.peer = peer
        self.lastStream = lastStream
    }

    @discardableResult
    func succeed(_ operation: RecordModel.Operation) async throws -> [Item] {
        let answer = try await self.ask(operation)
        guard answer.end.failure == nil, !answer.items.contains(where: \.isFailure) else {
            throw UnexpectedFrame(frame: nil)
        }
        return answer.items
    }

    func ask(_ operation: RecordModel.Operation) async throws -> (items: [Item], end: End) {
        self.lastStream += 2
        try await self.peer.send(operation, on: self.lastStream)
        return try await self.peer.answer(on: self.lastStream)
    }

    func subscribe(_ subscriptions: Subscription..., scope: DatabaseScope = .private) async throws {
        try await self.succeed(.modifySubscriptions(ModifySubscriptions(scope: scope, saves: subscriptions)))
    }

    /// What is left of the user's subscriptions, by ID.
    func subscriptions(scope: DatabaseScope = .private) async throws -> [String] {
        let items = try await self.succeed(
            .fetchSubscriptions(FetchSubscriptions(scope: scope, selection: .all))
        )
        return items.compactMap { if case .subscription(let found) = $0.outcome { found.id } else { nil } }
    }
}

extension Item {
    fileprivate var isFailure: Bool {
        if case .failure = self.outcome { true } else { false }
    }
}

extension TestPeer {
    /// The next frame, which must be a notification.
    func notification() async throws -> RecordModel.Notification {
        while let frame = await self.next() {
            if frame.kind == .credit { continue }
            guard frame.kind == .notification, frame.stream == 0 else { throw UnexpectedFrame(frame: frame) }
            return try RecordModel.Notification(decoding: frame.payload)
        }
        throw UnexpectedFrame(frame: nil)
    }

    func notifications(_ count: Int) async throws -> [RecordModel.Notification] {
        var notifications: [RecordModel.Notification] = []
        for _ in 0..<count { notifications.append(try await self.notification()) }
        return notifications
    }

    func acknowledge(_ number: UInt64) async throws {
        let payload = NotificationAck(number: number).encoded()
        try await self.send(Frame(kind: .notificationAck, payload: payload))
    }

    /// Everything that was sent before is dealt with, and nothing came meanwhile.
    func expectSilence() async throws {
        try await self.send(Frame(kind: .ping, payload: Ping(value: 7).encoded()))
        #expect(await self.next()?.kind == .pong)
    }
}

extension Subscription {
    static func zone(_ id: String = "zone") -> Subscription {
        Subscription(id: id, kind: .zone(ServerUnderTest.zone, recordType: nil))
    }

    static func database(_ id: String = "database") -> Subscription {
        Subscription(id: id, kind: .database(recordType: nil))
    }

    static func notes(
        _ id: String = "notes",
        on firesOn: FiresOn = .events,
        info: NotificationInfo? = nil
    ) -> Subscription {
        let kind = Kind.query(recordType: "Note", predicate: .all, zone: nil, firesOn: firesOn)
        return Subscription(id: id, kind: kind, info: info)
    }
}
