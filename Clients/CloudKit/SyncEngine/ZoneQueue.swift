/// The order of zones in a fetch: the prioritized before all others, some at once, none again that
/// has failed.
struct ZoneQueue: Sendable {
    /// A token that expires again and again is the server's fault, and no reason to continue at
    /// once.
    static let beginningsMax = 3

    private var running: Set<CKRecordZone.ID> = []
    private var failed: Set<CKRecordZone.ID> = []
    private var beginnings: [CKRecordZone.ID: Int] = [:]

    /// Returns the zones that begin now.
    ///
    /// - Parameters:
    ///   - behind: The zones with changes.
    ///   - options: Their scope and order.
    /// - Returns: The zones, which now run.
    mutating func start(
        of behind: [CKRecordZone.ID],
        _ options: CKSyncEngine.FetchChangesOptions
    ) -> [CKRecordZone.ID] {
        let open = behind.filter {
            options.scope.contains($0) && !self.running.contains($0) && !self.failed.contains($0)
        }
        let first = options.prioritizedZoneIDs.filter { open.contains($0) }
        let isFirstRunning = options.prioritizedZoneIDs.contains { self.running.contains($0) }
        let next = first.isEmpty && !isFirstRunning ? open : first
        var started: [CKRecordZone.ID] = []
        for zone in next where self.running.count < ZoneFeeds.parallelMax {
            guard self.running.insert(zone).inserted else { continue }
            self.beginnings[zone, default: 0] += 1
            started.append(zone)
        }
        return started
    }

    /// Notes that a zone was fetched.
    mutating func ended(_ zone: CKRecordZone.ID) { self.running.remove(zone) }

    /// Notes that a zone failed; it does not begin again.
    mutating func failed(_ zone: CKRecordZone.ID) {
        self.running.remove(zone)
        self.failed.insert(zone)
    }

    /// Notes that a zone's token has expired.
    ///
    /// - Returns: Whether it may begin again.
    mutating func expired(_ zone: CKRecordZone.ID) -> Bool {
        guard self.beginnings[zone, default: 0] < Self.beginningsMax else {
            self.failed(zone)
            return false
        }
        self.running.remove(zone)
        return true
    }
}
