import CloudKit

extension CKContainer {
    /// The notifications from now on: the server has said that it listens.
    func listening() async -> CKNotificationStream.Iterator {
        let (statuses, status) = AsyncStream.makeStream(of: Void.self)
        let iterator = self.notifications { if case .listening = $0 { status.yield() } }
            .makeAsyncIterator()
        for await _ in statuses { break }
        return iterator
    }
}
