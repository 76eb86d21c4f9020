extension WriteTransaction {
    /// Deletes a zone with everything in it, and the subscriptions that go with it.
    ///
    /// Its shares end first, so that those who have joined them learn of it.
    func removeZone(_ zone: ZoneKey, named name: String, at position: Int64) throws(StorageFailure) {
        for share in try self.rememberedShares(in: zone) { try self.deleteShare(share) }
        self.memory.shares[zone] = nil
        try self.deleteZone(zone, named: name, at: position)
        try self.deleteSubscriptions(of: zone, at: position)
    }
}
