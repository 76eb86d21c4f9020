import RecordModel
package import StorageContract

/// A listener: an installation of a program, for a user.
package struct ListenerIdentity: Hashable, Sendable {
    /// 16 bytes.
    package var installation: [UInt8]
    package var signIn: SignIn

    package init(installation: [UInt8], signIn: SignIn) {
        self.installation = installation
        self.signIn = signIn
    }

    /// Databases that are watched for the listener.
    package var databases: [DatabaseID] {
        [self.signIn.publicDatabase]
            + [self.signIn.privateDatabase, self.signIn.sharedDatabase].compactMap { $0 }
    }
}

/// How things stand when a listener begins.
package struct ListeningStart: Hashable, Sendable {
    /// Subscriptions of all databases.
    package var subscriptions: [WatchedSubscription]
    /// The position of each database: the start includes changes at or before it, and later changes
    /// are reported, or in the tail (`ChangeTail`).
    package var positions: [DatabaseID: Int64]

    package init(subscriptions: [WatchedSubscription], positions: [DatabaseID: Int64]) {
        self.subscriptions = subscriptions
        self.positions = positions
    }
}

/// A position of the database up to which a listener has taken care of the changes, as far as the
/// subscription goes.
package struct Acknowledgement: Hashable, Sendable {
    package var subscription: SubscriptionKey
    package var position: Int64

    package init(subscription: SubscriptionKey, position: Int64) {
        self.subscription = subscription
        self.position = position
    }
}
