package import RecordModel

/// What somebody who listens is told.
package enum ListeningEvent: Sendable {
    /// The server has answered: what happens from here on is told, and what there was news of before. Keys of before mean nothing now.
    ///
    /// With the user record name of the token's user, empty when nobody is signed in.
    case began(user: String)
    /// In the order of their numbers, none left out.
    case notification(Notification, NotificationKey)
    /// Nothing is told until the next `began`. With the time to the next attempt; `nil`: there is none before the connection ends.
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

/// Somebody who listens: what to tell the client on his behalf.
package struct ListenerHandle: Sendable {
    /// All notifications of the connection, up to this one, are taken care of.
    ///
    /// Without effect when the connection has ended.
    package let acknowledge: @Sendable (NotificationKey) -> Void
    /// Ends the listening, and the connection when the requests on it have ended: there is no other way to tell a server.
    package let stop: @Sendable () -> Void

    package init(
        acknowledge: @escaping @Sendable (NotificationKey) -> Void,
        stop: @escaping @Sendable () -> Void
    ) {
        self.acknowledge = acknowledge
        self.stop = stop
    }
}
