import Dispatch
import NIOCore
import RecordModel
import RecordStore
import StorageContract
import Synchronization
import WireProtocol

@testable import RecordServer

/// What connections hear of what an engine commits: the router's decisions, without its thread and
/// without connections.
///
/// Every user has two connections: the first makes the user's changes, the second only listens.
final class PushedNotifications {
    private let it: EngineUnderTest
    private let reports: Reports
    private let run: ServerRun
    private var routing: NotificationRouting
    private var nowMilliseconds: Int64 = 0

    init(of it: EngineUnderTest) {
        self.it = it
        self.run = .fresh()
        self.routing = NotificationRouting(loops: 2, run: self.run)
        self.reports = it.reports()
    }

    /// Numbers of connections; the owner's if `nil`.
    func connections(of reader: Int?) -> [UInt64] {
        let first = UInt64(10 * (reader.map { $0 + 2 } ?? 1))
        return [first, first + 1]
    }

    /// What the changes of a connection come with.
    func origin(_ connection: UInt64) -> ChangeOrigin {
        ChangeOrigin(run: self.run, connection: connection)
    }

    /// Has a user listen with both connections, each on an event loop of its own.
    func listen(as reader: Int?, _ signIn: SignIn) async throws {
        for (loop, number) in self.connections(of: reader).enumerated() {
            let identity = self.it.listener(UInt8(number), signIn: signIn)
            self.routing.asked(number)
            let start = try await self.it.startWatching(identity)
            let listener = NotificationRouting.Listener(number: number, loop: loop, identity: identity)
            _ = self.routing.started(listener, .success(start))
            for var joining in JoiningListener.all(of: listener, start) { _ = self.routing.joined(&joining) }
        }
        _ = self.routing.takePosts()
    }

    /// What each connection has heard since this was asked last.
    ///
    /// Of changes whose reply has come; the number of every notification is 1.
    func take() throws -> [UInt64: [RecordModel.Notification]] {
        let store = self.it.store.subscriptions
        // Nobody here is so fast that it is too much.
        self.nowMilliseconds += 1_000
        self.routing.timePassed(nowMilliseconds: self.nowMilliseconds)
        for report in self.reports.take() {
            var commit = RoutedCommit(report)
            while self.routing.route(&commit) == .asks {
                let answers = Mutex<[Bool]?>(nil)
                let replied = DispatchSemaphore(value: 0)
                store.mayRead(commit.questions) {
                    answers.withLock { [answered = $0] in $0 = answered }
                    replied.signal()
                }
                replied.wait()
                commit.answer(answers.withLock { $0 })
            }
        }
        var heard: [UInt64: [RecordModel.Notification]] = [:]
        for post in self.routing.takePosts().joined() {
            guard case .delivery(let delivery) = post else { continue }
            var buffer = ByteBuffer()
            delivery.notification.content.encode(number: 1, isCoalesced: false, into: &buffer)
            let notification = try RecordModel.Notification(decoding: buffer)
            for listener in delivery.listeners where listener != delivery.excluded {
                heard[listener, default: []].append(notification)
            }
        }
        return heard
    }
}
