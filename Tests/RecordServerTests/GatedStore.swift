import Foundation
import RecordModel
import RecordStore

@testable import RecordServer

/// Answers nobody who asks whether somebody may read a record until it is opened.
///
/// SAFETY: variables are read and written only while the condition is locked.
final class GatedStore: SubscriptionStore, @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen = false
    private var asked = 0
    private var observer: (@Sendable (CommittedChanges) -> Void)?
    /// Of all users.
    private let subscriptions: [WatchedSubscription]

    init(_ subscriptions: [WatchedSubscription]) {
        self.subscriptions = subscriptions
    }

    var questions: Int { self.condition.withLock { self.asked } }

    func open() {
        self.condition.withLock {
            self.isOpen = true
            self.condition.broadcast()
        }
    }

    func commit(_ changes: CommittedChanges) {
        let observer = self.condition.withLock { self.observer }
        observer?(changes)
    }

    func mayRead(recordType: String, createdBy creator: String, by requester: Requester) -> Bool {
        self.condition.withLock {
            self.asked += 1
            while !self.isOpen { self.condition.wait() }
            return true
        }
    }

    func report(to observer: @escaping @Sendable (CommittedChanges) -> Void) {
        self.condition.withLock { self.observer = observer }
    }

    func startWatching(
        _ listener: ListenerIdentity,
        reply: @escaping @Sendable (Result<ListeningStart, StoreError>) -> Void
    ) {
        let user = listener.signIn.userRecordName
        reply(.success(ListeningStart(subscriptions: self.subscriptions.filter { $0.key.owner == user })))
    }

    func stopWatching(_ listener: ListenerIdentity) {}
    func acknowledge(_ acknowledgements: [Acknowledgement], by listener: ListenerIdentity) {}
    func expire(_ subscription: SubscriptionKey) {}
}
