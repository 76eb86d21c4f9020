package import RecordModel
package import StorageContract

extension StoredSubscription {
    /// - Throws: `unexpected` if the bytes are none that this version wrote.
    package func subscription() throws(StorageFailure) -> Subscription {
        guard let kind = SubscriptionCoding.kind(self.definition) else { throw .unexpected(code: 0) }
        var info: NotificationInfo?
        if let bytes = self.info {
            info = SubscriptionCoding.info(bytes)
            if info == nil { throw .unexpected(code: 0) }
        }
        return Subscription(id: self.key.id, kind: kind, info: info)
    }
}
