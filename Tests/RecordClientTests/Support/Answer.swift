import RecordModel
import Synchronization
import WireProtocol

@testable import RecordClient

/// What a caller was told, in order.
final class Answer: Sendable {
    enum Event: Hashable, Sendable {
        case items([UInt32])
        case success
        case failure(ClientError)
    }

    private let told = Mutex<[Event]>([])

    var events: [Event] { self.told.withLock { $0 } }

    func received(_ items: [Item]) {
        self.told.withLock { $0.append(.items(items.map(\.index))) }
    }

    func ended(_ result: Result<End, ClientError>) {
        self.told.withLock { told in
            switch result {
            case .success: told.append(.success)
            case .failure(let error): told.append(.failure(error))
            }
        }
    }
}
