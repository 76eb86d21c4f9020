import RecordModel
import Synchronization
import WireProtocol

@testable import RecordClient

/// What a listener was told, in order.
final class Heard: Sendable {
    enum Event: Hashable, Sendable {
        case began(user: String)
        case notification(connection: Int, number: UInt64)
        case interrupted(ClientError, retryIn: Duration?)
        case ended
    }

    private let noted = Mutex<[Event]>([])

    var events: [Event] { self.noted.withLock { $0 } }

    /// The keys of the notifications.
    var keys: [NotificationKey] {
        self.events.compactMap { event in
            guard case .notification(let connection, let number) = event else { return nil }
            return NotificationKey(connection: connection, number: number)
        }
    }

    /// Why it was interrupted, each time.
    var interruptions: [ClientError] {
        self.events.compactMap { if case .interrupted(let error, _) = $0 { error } else { nil } }
    }

    func told(_ event: ListeningEvent) {
        let noted: Event =
            switch event {
            case .began(let user): .began(user: user)
            case .notification(_, let key): .notification(connection: key.connection, number: key.number)
            case .interrupted(let error, let retryIn): .interrupted(error, retryIn: retryIn)
            case .ended: .ended
            }
        self.noted.withLock { $0.append(noted) }
    }
}

struct StartedListening {
    let handle: ListenerHandle
    let heard: Heard
    let server: ScriptedServer

    func acknowledge(_ number: UInt64, of connection: Int = 1) {
        self.handle.acknowledge(NotificationKey(connection: connection, number: number))
    }

    func stop() {
        self.handle.stop()
        self.server.tick()
    }
}

extension ScriptedConnection {
    /// Takes the request `listen`, which must be all that came, and answers it.
    func acceptListener(_ failure: Failure? = nil) throws {
        let requests = try self.requests()
        guard requests.count == 1, requests[0].request.operation == .listen else {
            throw WireError(.malformed, field: "listen")
        }
        try self.end(requests[0].stream, failure)
    }

    func notify(_ numbers: UInt64...) throws {
        for number in numbers { try self.send(.notification, Notification.sample(number).encoded()) }
    }

    /// The acknowledgements that came since the last call; nothing else may have come.
    func acknowledgements() throws -> [UInt64] {
        try self.frames().map { frame in
            guard frame.kind == .notificationAck else { throw WireError(.malformed, field: "kind") }
            return try NotificationAck(decoding: frame.payload).number
        }
    }
}

extension Notification {
    /// Says that a database has changed.
    static func sample(_ number: UInt64) -> Notification {
        Notification(
            number: number,
            subscriptionID: "all",
            scope: .private,
            event: .database,
            owner: "_user",
            committedMilliseconds: 1_700_000_000_000
        )
    }
}
