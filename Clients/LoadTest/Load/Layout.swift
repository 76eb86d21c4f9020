import RecordModel

/// Where the records of one process of a run are, in the private database of each of its users.
struct Layout: Hashable, Sendable {
    /// Records that one query finds, which are in one zone.
    static let keysPerBucket = 20

    let run: String
    let process: Int
    let zoneCount: Int

    func zone(_ number: Int) -> ZoneID { ZoneID(zoneName: "load-\(self.run)-\(self.process)-\(number)") }

    /// Of what devices hear of each other.
    var syncZone: ZoneID { ZoneID(zoneName: "load-\(self.run)-\(self.process)-sync") }

    /// Of what a listener hears of.
    var pushZone: ZoneID { ZoneID(zoneName: "load-\(self.run)-\(self.process)-push") }

    /// That of the devices is the last.
    var zones: [ZoneID] { (0..<self.zoneCount).map { self.zone($0) } + [self.pushZone, self.syncZone] }

    /// Where a key is, by its number among those of its worker.
    func zoneNumber(of key: Int) -> Int { key / Self.keysPerBucket % self.zoneCount }

    /// The next ordinary key in the zone of a key; behind the last comes the first.
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

    /// What a query asks for to find a key and its neighbours.
    func bucket(of key: Int, worker: Int) -> Int64 {
        Int64(worker) << 32 | Int64(key / Self.keysPerBucket)
    }

    /// The keys of a bucket, those that there are.
    func keys(besides key: Int, of range: Range<Int>) -> Range<Int> {
        let first = key / Self.keysPerBucket * Self.keysPerBucket
        return (first..<first + Self.keysPerBucket).clamped(to: range)
    }

    // They go with their zones.
    var pushSubscription: String { "tidemark-load-push-\(self.run)-\(self.process)" }
    var syncSubscription: String { "tidemark-load-sync-\(self.run)-\(self.process)" }
}
