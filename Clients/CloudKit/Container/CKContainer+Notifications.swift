public import Foundation

// Push: on Apple's systems the application's delegate gets it.
extension CKContainer {
    /// Whether a server tells what happens.
    ///
    /// Beyond CloudKit.
    public enum ListeningStatus: Sendable {
        /// What happens from here on comes as it is committed; of what happened before, the server says that there is news.
        case listening
        /// Nothing comes, and why. The connection is made again after so many seconds; `nil`: not before something else ends it.
        case interrupted(CKError, retryAfter: TimeInterval?)
    }

    /// The notifications of all subscriptions of the user who is signed in, as they come.
    ///
    /// Beyond CloudKit.
    ///
    /// ```swift
    /// for await notification in container.notifications() {
    ///     guard let zone = notification as? CKRecordZoneNotification else { continue }
    ///     try await fetchChanges(in: zone.recordZoneID)
    /// }
    /// ```
    ///
    /// The connection that the container's requests use listens as long as somebody iterates, whatever happens to it, and is
    /// made again for ever. What this process changes over it is not among the notifications.
    ///
    /// Iteration has to begin before the changes that you want to hear of in detail. An earlier change comes as word that there is news:
    /// its `CKQueryNotification` has no record, and `isPruned` is `true`.
    ///
    /// Asking for the next notification says that the one before is taken care of. One that nobody has taken care of when the connection or the
    /// process ends comes again as word that there is news, with the same subscription and without details.
    ///
    /// - Parameter statusChanged: Told when the server begins and ceases to tell, one at a time, never on the connection's thread.
    /// - Returns: A sequence for any number of iterators, each of which gets every notification from its creation on.
    public func notifications(
        onStatusChange statusChanged: (@Sendable (ListeningStatus) -> Void)? = nil
    ) -> Notifications {
        Notifications(access: self.access, statusChanged: statusChanged)
    }

    /// The notifications of a container; see `CKContainer.notifications()`.
    ///
    /// Beyond CloudKit. It never fails, and ends when the task that iterates is cancelled. Without a configured connection and a token it ends at once.
    ///
    /// - Bounds: An iterator that is not asked for its next element holds at most 128 notifications, and keeps the server from sending more than
    ///   64 to the whole process: it says later, once a subscription, that there was more.
    public struct Notifications: AsyncSequence, Sendable {
        /// A notification.
        public typealias Element = CKNotification
        /// No failure.
        public typealias Failure = Never

        fileprivate let access: ServerAccess
        fileprivate let statusChanged: (@Sendable (ListeningStatus) -> Void)?

        /// Begins to listen.
        public func makeAsyncIterator() -> Iterator {
            do throws(CKError) {
                let session = try self.access.session()
                guard session.isSignedIn else { throw CKError.nobodySignedIn }
                let consumer = NotificationConsumer(
                    session.notifications,
                    container: self.access.identifier ?? "",
                    statusChanged: self.statusChanged
                )
                return Iterator(consumer: consumer)
            } catch {
                self.statusChanged?(.interrupted(error, retryAfter: nil))
                return Iterator(consumer: nil)
            }
        }

        /// Gets each notification from its creation on.
        ///
        /// To be used by one task at a time. When it is let go, the notification that it gave last counts as not taken care of.
        public struct Iterator: AsyncIteratorProtocol {
            /// `nil`: there is nobody to ask.
            let consumer: NotificationConsumer?

            /// The next notification; says that the one before is taken care of.
            public mutating func next() async -> CKNotification? {
                await self.consumer?.next()
            }

            /// The next notification; says that the one before is taken care of.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> CKNotification? {
                await self.consumer?.next()
            }
        }
    }
}
