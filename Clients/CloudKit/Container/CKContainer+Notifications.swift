public import Foundation

// Push notifications: on Apple's systems the app delegate gets them.
extension CKContainer {
    /// Whether the server sends notifications.
    ///
    /// Beyond CloudKit.
    public enum ListeningStatus: Sendable {
        /// Changes are notified as they are committed; for earlier changes there is one summary
        /// notification per subscription.
        case listening
        /// No notification comes, because of the error; the SDK reconnects after the time, or not
        /// until the cause has changed if it is `nil`.
        case interrupted(CKError, retryAfter: TimeInterval?)
    }

    /// The stream of notifications of all the user's subscriptions.
    ///
    /// Beyond CloudKit. It replaces the app delegate of Apple's systems.
    ///
    /// ```swift
    /// try await database.save(CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "notes"))
    /// for await notification in container.notifications() {
    ///     guard let change = notification as? CKRecordZoneNotification else { continue }
    ///     print("Something changed in", change.recordZoneID?.zoneName ?? "a zone")
    /// }
    /// ```
    ///
    /// The stream listens on the connection of the container's requests for as long as an iterator
    /// exists, and reconnects for ever. Changes that this process makes over that connection are
    /// not notified.
    ///
    /// Start to iterate before the changes that you want in detail. An earlier change comes as a
    /// summary without details: its `CKQueryNotification` has no record, and `isPruned` is `true`.
    ///
    /// A request for the next notification acknowledges the one before. If the connection or the
    /// process ends, a notification that was not acknowledged comes again as a summary of the same
    /// subscription.
    ///
    /// The stream has no errors. `statusChanged` reports why nothing comes:
    ///
    /// | error of `.interrupted` | what to do |
    /// |---|---|
    /// | `networkFailure`, `networkUnavailable`, `serviceUnavailable` | wait: the SDK reconnects |
    /// | `notAuthenticated` | supply another token; the SDK posts `CKAccountChanged` |
    /// | `badContainer` | correct the setting that the text names |
    ///
    /// - Parameter statusChanged: Called when listening starts and when it is interrupted, one call
    ///   at a time, never on the connection's thread.
    /// - Returns: A sequence for any number of iterators. Each gets every notification from its
    ///   creation on.
    public func notifications(
        onStatusChange statusChanged: (@Sendable (ListeningStatus) -> Void)? = nil
    ) -> Notifications {
        Notifications(access: self.access, statusChanged: statusChanged)
    }

    /// The notifications of a container; see `CKContainer.notifications()`.
    ///
    /// Beyond CloudKit. It never fails, and ends when the iterating task is cancelled. Without a
    /// configured connection and a token it ends at once.
    ///
    /// - Bounds: An iterator that is not asked for its next element holds at most 128
    ///   notifications. It also keeps the server from sending more than 64 to the whole process.
    ///   The server later sends one summary per subscription.
    public struct Notifications: AsyncSequence, Sendable {
        /// A notification.
        public typealias Element = CKNotification
        /// The sequence never fails.
        public typealias Failure = Never

        fileprivate let access: ServerAccess
        fileprivate let statusChanged: (@Sendable (ListeningStatus) -> Void)?

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
            public mutating func next() async -> CKNotification? {
                await self.consumer?.next()
            }

            /// Returns the next notification, and acknowledges the one before.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> CKNotification? {
                await self.consumer?.next()
            }
        }
    }
}
