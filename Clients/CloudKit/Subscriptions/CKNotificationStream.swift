public import Foundation

/// Whether the server sends notifications.
///
/// Beyond CloudKit.
///
/// - Source: beyond Apple.
public enum CKListeningStatus: Sendable {
    /// Changes are notified as they are committed; for earlier changes there is one summary
    /// notification per subscription.
    case listening
    /// No notification comes, because of the error; the SDK reconnects after the time, or not
    /// until the cause has changed if it is `nil`.
    case interrupted(CKError, retryAfter: TimeInterval?)
}

/// The notifications of a container; see `CKContainer.notifications()`.
///
/// Beyond CloudKit. It never fails, and ends when the iterating task is cancelled. Without a
/// configured connection and a token it ends at once.
///
/// - Bounds: An iterator that is not asked for its next element holds at most 128
///   notifications. It also keeps the server from sending more than 64 to the whole process.
///   The server later sends one summary per subscription.
/// - Source: beyond Apple.
public struct CKNotificationStream: AsyncSequence, Sendable {
    /// A notification.
    public typealias Element = CKNotification
    /// The sequence never fails.
    public typealias Failure = Never

    let access: ServerAccess
    let statusChanged: (@Sendable (CKListeningStatus) -> Void)?

    /// Starts to listen.
    ///
    /// Each iterator gets every notification from its creation on. It ends when its task is
    /// cancelled, or at once if no server or token is configured.
    public func makeAsyncIterator() -> Iterator {
        do throws(CKError) {
            let session = try self.access.session()
            guard session.isSignedIn else { throw CKError.nobodySignedIn }
            let consumer = NotificationConsumer(
                session.notifications,
                of: self.access,
                statusChanged: self.statusChanged
            )
            return Iterator(consumer: consumer)
        } catch {
            self.statusChanged?(.interrupted(error, retryAfter: nil))
            return Iterator(consumer: nil)
        }
    }

    /// Delivers each notification from its creation on.
    ///
    /// Use it from one task at a time. When it is released, the notification that it delivered
    /// last counts as not acknowledged.
    public struct Iterator: AsyncIteratorProtocol {
        /// `nil` if there is no server to listen to.
        let consumer: NotificationConsumer?

        /// Returns the next notification, and acknowledges the one before.
        public nonisolated(nonsending) mutating func next() async -> CKNotification? {
            await self.consumer?.next()
        }

        /// Returns the next notification, and acknowledges the one before.
        ///
        /// - Parameter actor: The actor of the caller.
        /// - Returns: The notification; `nil` if the task is cancelled, or there is no server to
        ///   listen to.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> CKNotification? {
            await self.consumer?.next()
        }
    }
}
