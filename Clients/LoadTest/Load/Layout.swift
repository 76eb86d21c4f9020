import RecordModel

/// The location of the records of one process of a run, in the private database of each of its
/// users.
struct Layout: Hashable, Sendable {
    /// Records that one query finds.
    ///
    /// They are in one zone.
    static let keysPerBucket = 20

    let run: String
    let process: Int
    let zoneCount: Int

    func zone(_ number: Int) -> ZoneID { ZoneID(zoneName: "load-\(self.run)-\(self.process)-\(number)") }

    /// The zone for the saves of devices.
    var syncZone: ZoneID { ZoneID(zoneName: "load-\(self.run)-\(self.process)-sync") }

    /// The zone for the saves with a listener.
    var pushZone: ZoneID { ZoneID(zoneName: "load-\(self.run)-\(self.process)-push") }

    /// The devices' zone is the last.
    var zones: [ZoneID] { (0..<self.zoneCount).map { self.zone($0) } + [self.pushZone, self.syncZone] }

    /// The zone of a key, which is numbered within its worker.
    func zoneNumber(of key: Int) -> Int { key / Self.keysPerBucket % self.zoneCount }

    /// The next ordinary key in the zone of a key.
    ///
    /// The first follows the last.
    func key(after key: Int, of count: Int) -> Int {
        let isLastOfBucket = key % Self.keysPerBucket == Self.keysPerBucket - 1
        let next = isLastOfBucket ? key + 1 + (self.zoneCount - 1) * Self.keysPerBucket : key + 1
        return next < count ? next : self.zoneNumber(of: key) * Self.keysPerBucket
    }

    func recordID(_ key: Int, in keys: KeyTable) -> RecordID {
        let zone =
            switch keys.kind(of: key) {
            case .push: self.pushZone
            case .sync: self.syncZone
            case .plain, .asset: self.zone(self.zoneNumber(of: key))
            }
        return RecordID(zone: zone, recordName: KeyTable.recordName(key, of: keys.worker))
    }

    /// The bucket in which a query finds a key and its neighbours.
    func bucket(of key: Int, worker: Int) -> Int64 {
        Int64(worker) << 32 | Int64(key / Self.keysPerBucket)
    }

    /// The existing keys of a bucket.
    func keys(besides key: Int, of range: Range<Int>) -> Range<Int> {
        let first = key / Self.keysPerBucket * Self.keysPerBucket
        return (first..<first + Self.keysPerBucket).clamped(to: range)
    }

    // Subscriptions are deleted with their zones.
    var pushSubscription: String { "tidemark-load-push-\(self.run)-\(self.process)" }
    var syncSubscription: String { "tidemark-load-sync-\(self.run)-\(self.process)" }
}
