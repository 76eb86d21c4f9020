import Foundation
import RecordClient
import RecordModel
import Synchronization

@testable import CloudKit

/// A connection that does what it is told, and notes what it is asked.
final class ScriptedListener: Sendable {
    private struct State {
        var told: [@Sendable (ListeningEvent) -> Void] = []
        var stops = 0
        var acknowledged: [NotificationKey] = []
    }

    private let state = Mutex(State())
    let signIn = SignInResponse()

    var starts: Int { self.state.withLock { $0.told.count } }
    var stops: Int { self.state.withLock { $0.stops } }
    /// As "connection/number".
    var acknowledged: [String] {
        self.state.withLock { $0.acknowledged.map { "\($0.connection)/\($0.number)" } }
    }

    func hub() -> NotificationHub {
        NotificationHub(signIn: self.signIn) { [self] told in
            self.state.withLock { $0.told.append(told) }
            return ListenerHandle(
                acknowledge: { key in self.state.withLock { $0.acknowledged.append(key) } },
                stop: { self.state.withLock { $0.stops += 1 } }
            )
        }
    }

    /// Tells the listener that was started last, or an earlier one.
    func tell(_ event: ListeningEvent, listener: Int? = nil) {
        let told = self.state.withLock { state in state.told[(listener ?? state.told.count) - 1] }
        told(event)
    }

    func notify(_ numbers: ClosedRange<UInt64>, connection: Int = 1, listener: Int? = nil) {
        for number in numbers {
            let notification = RecordModel.Notification(
                number: number,
                subscriptionID: "\(connection)/\(number)",
                scope: .private,
                event: .zone(ZoneID(zoneName: "desk")),
                owner: "_me",
                committedMilliseconds: 1_500
            )
            let key = NotificationKey(connection: connection, number: number)
            self.tell(.notification(notification, key), listener: listener)
        }
    }
}

extension NotificationHub {
    func consumer(
        _ statusChanged: (@Sendable (CKListeningStatus) -> Void)? = nil
    ) -> NotificationConsumer {
        NotificationConsumer(
            self,
            of: ServerAccess(identifier: "iCloud.c", connection: nil),
            statusChanged: statusChanged
        )
    }
}

extension CKListeningStatus {
    /// "listening", or the number of the error's code and the time to the next attempt.
    var short: String {
        switch self {
        case .listening: "listening"
        case .interrupted(let error, let retryAfter):
            "\(error.code.rawValue) in \(retryAfter.map { "\($0)" } ?? "nil")"
        }
    }
}
