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
    /// Where databases are when a listener begins.
    private let positions: [DatabaseID: Int64]
    private var tail: ChangeTail?
    private var present: [WatchedSubscription]?
    private var tailsAsked: [Int64] = []

    init(_ subscriptions: [WatchedSubscription], positions: [DatabaseID: Int64] = [:]) {
        self.subscriptions = subscriptions
        self.positions = positions
    }

    /// Positions behind which it was asked for a tail.
    var tails: [Int64] { self.condition.withLock { self.tailsAsked } }

    /// What the rows say from now on; nobody can tell with `nil`.
    func set(_ tail: ChangeTail?, _ present: [WatchedSubscription]?) {
        self.condition.withLock {
            self.tail = tail
            self.present = present
        }
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
        let subscriptions = self.subscriptions.filter { $0.key.owner == user }
        reply(.success(ListeningStart(subscriptions: subscriptions, positions: self.positions)))
    }

    func tail(of database: DatabaseID, after position: Int64) -> ChangeTail? {
        self.condition.withLock {
            self.tailsAsked.append(position)
            return self.tail
        }
    }

    func subscriptions(of owners: [String], in database: DatabaseID) -> [WatchedSubscription]? {
        self.condition.withLock {
            self.present?.filter { owners.contains($0.key.owner) && $0.key.database == database }
        }
    }

    func stopWatching(_ listener: ListenerIdentity) {}
    func acknowledge(_ acknowledgements: [Acknowledgement], by listener: ListenerIdentity) {}
    func expire(_ subscription: SubscriptionKey) {}
}
