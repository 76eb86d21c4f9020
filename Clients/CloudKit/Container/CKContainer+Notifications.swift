// Push notifications: on Apple's systems the app delegate gets them.
extension CKContainer {
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
        onStatusChange statusChanged: (@Sendable (CKListeningStatus) -> Void)? = nil
    ) -> CKNotificationStream {
        CKNotificationStream(access: self.access, statusChanged: statusChanged)
    }
}
