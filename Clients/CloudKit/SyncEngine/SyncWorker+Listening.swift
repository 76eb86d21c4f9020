/// Hearing that something changed on the server.
extension SyncWorker {
    /// A container that has no connection or no token yet is looked at again so much later.
    private static let pauseWithoutConnection = Duration.seconds(60)

    /// Notes what the server says of the database, until the task is cancelled.
    ///
    /// A notification is taken care of when it is noted: should the process end before the fetch, the next engine begins with one.
    nonisolated func listen() async {
        let inbox = self.inbox
        let database = self.server.database
        let container = CKContainer(access: database.access)
        while !Task.isCancelled {
            let notifications = container.notifications { status in
                switch status {
                // What happened before the server listened, or while it did not, may be anything.
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
    /// Whether something changed in zones of a database.
    fileprivate func isAbout(_ scope: CKDatabase.Scope) -> Bool {
        switch self {
        case let notification as CKDatabaseNotification: notification.databaseScope == scope
        case let notification as CKRecordZoneNotification: notification.databaseScope == scope
        default: false
        }
    }
}
