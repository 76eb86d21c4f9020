/// An iterator of the notifications of a container.
final class NotificationConsumer: Sendable {
    private let hub: NotificationHub
    private let number: Int
    /// Keeps the connection open that the notifications come on.
    private let access: ServerAccess

    init(
        _ hub: NotificationHub,
        of access: ServerAccess,
        statusChanged: (@Sendable (CKListeningStatus) -> Void)?
    ) {
        self.hub = hub
        self.access = access
        self.number = hub.join(statusChanged)
    }

    deinit {
        self.hub.leave(self.number)
    }

    func next() async -> CKNotification? {
        // This comes before the task is checked: the request for the next notification acknowledges
        // the one before, even if there is no next one.
        self.hub.took(self.number)
        while let arrived = await self.arrived() {
            let dictionary = arrived.notification.remoteDictionary(
                containerIdentifier: self.access.identifier ?? "",
                id: arrived.id
            )
            if let made = CKNotification(fromRemoteNotificationDictionary: dictionary) { return made }
            self.hub.took(self.number)
        }
        return nil
    }

    private func arrived() async -> ArrivedNotification? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { self.hub.next(self.number, $0) }
        } onCancel: {
            self.hub.leave(self.number)
        }
    }
}
