/// Listening for changes on the server.
extension SyncWorker {
    /// The pause until a container without a connection or token is tried again.
    private static let pauseWithoutConnection = Duration.seconds(60)

    /// Notes the server's notifications about the database, until the task is cancelled.
    ///
    /// A notification is acknowledged when it is noted. If the process ends before the fetch, the
    /// next engine starts with one.
    nonisolated func listen() async {
        let inbox = self.inbox
        let database = self.server.database
        let container = CKContainer(access: database.access)
        while !Task.isCancelled {
            let notifications = container.notifications { status in
                switch status {
                // Any change may have happened before the server listened, or while it did not.
                case .listening: inbox.post { $0.notified = true }
                case .interrupted(let error, _) where error.code == .notAuthenticated:
                    inbox.post { $0.accountMayHaveChanged = true }
                case .interrupted: break
                }
            }
            for await notification in notifications where notification.isAbout(database.databaseScope) {
                inbox.post { $0.notified = true }
            }
            try? await Task.sleep(for: Self.pauseWithoutConnection)
        }
    }
}

extension CKNotification {
    /// Whether the notification is about changes in zones of a database.
    fileprivate func isAbout(_ scope: CKDatabase.Scope) -> Bool {
        switch self {
        case let notification as CKDatabaseNotification: notification.databaseScope == scope
        case let notification as CKRecordZoneNotification: notification.databaseScope == scope
        default: false
        }
    }
}
