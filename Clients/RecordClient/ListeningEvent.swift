package import RecordModel

/// An event for the listener of a client.
package enum ListeningEvent: Sendable {
    /// The server has accepted the listener.
    ///
    /// It notifies of changes from now on, and of news from before. Keys of earlier connections
    /// mean nothing now. `user` is the user record name of the token, empty if the client is not
    /// signed in.
    case began(user: String)
    /// In the order of their numbers, none left out.
    case notification(Notification, NotificationKey)
    /// No notifications come until the next `began`.
    ///
    /// `retryIn` is the time to the next attempt, or `nil` if there is none before the connection
    /// ends.
    case interrupted(ClientError, retryIn: Duration?)
    /// The client was shut down. The last one.
    case ended
}

/// Names a notification among those of all connections of a client.
package struct NotificationKey: Hashable, Sendable {
    /// Rises with each connection.
    package var connection: Int
    package var number: UInt64

    package init(connection: Int, number: UInt64) {
        self.connection = connection
        self.number = number
    }
}

/// Acknowledges the notifications of a listener, and stops it.
package struct ListenerHandle: Sendable {
    /// All notifications of the connection, up to this one, are taken care of.
    ///
    /// Without effect when the connection has ended.
    package let acknowledge: @Sendable (NotificationKey) -> Void
    /// Stops the listener, and closes the connection when its requests have ended.
    ///
    /// The protocol has no other way to stop notifications.
    package let stop: @Sendable () -> Void

    package init(
        acknowledge: @escaping @Sendable (NotificationKey) -> Void,
        stop: @escaping @Sendable () -> Void
    ) {
        self.acknowledge = acknowledge
        self.stop = stop
    }
}
