import Foundation
import RecordModel
import RecordStore
import StorageContract

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
    private let keepsReplies: Bool
    private var kept: [Kept] = []

    typealias Kept = (questions: [ReadQuestion], reply: @Sendable ([Bool]?) -> Void)

    init(
        _ subscriptions: [WatchedSubscription],
        positions: [DatabaseID: Int64] = [:],
        keepsReplies: Bool = false
    ) {
        self.subscriptions = subscriptions
        self.positions = positions
        self.keepsReplies = keepsReplies
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

    /// Has the caller wait with its reply until the store is open, unless replies are kept.
    func mayRead(_ questions: [ReadQuestion], reply: @escaping @Sendable ([Bool]?) -> Void) {
        let isKept = self.condition.withLock {
            self.asked += 1
            if self.keepsReplies {
                self.kept.append((questions, reply))
                return true
            }
            while !self.isOpen { self.condition.wait() }
            return false
        }
        if !isKept { reply(questions.map { _ in true }) }
    }

    /// Takes what was asked first, and how to reply.
    func takeKept() -> Kept? {
        self.condition.withLock { self.kept.isEmpty ? nil : self.kept.removeFirst() }
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
