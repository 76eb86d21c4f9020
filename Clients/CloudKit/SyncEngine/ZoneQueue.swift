/// Which zones are fetched when: the prioritized before all others, some at once, none that has failed again in the same fetch.
struct ZoneQueue: Sendable {
    /// A token that expires over and over is the server's fault, and nothing to go on with at once.
    static let beginningsMax = 3

    private var running: Set<CKRecordZone.ID> = []
    private var failed: Set<CKRecordZone.ID> = []
    private var beginnings: [CKRecordZone.ID: Int] = [:]

    /// Takes the zones that are to be begun now.
    ///
    /// - Parameters:
    ///   - behind: The zones with changes.
    ///   - options: Which of them, and which first.
    /// - Returns: Zones that run from now on.
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

    /// A zone was fetched.
    mutating func ended(_ zone: CKRecordZone.ID) { self.running.remove(zone) }

    /// A zone failed, and is not begun again.
    mutating func failed(_ zone: CKRecordZone.ID) {
        self.running.remove(zone)
        self.failed.insert(zone)
    }

    /// A zone's token has expired: it may begin again.
    ///
    /// - Returns: Whether it may.
    mutating func expired(_ zone: CKRecordZone.ID) -> Bool {
        guard self.beginnings[zone, default: 0] < Self.beginningsMax else {
            self.failed(zone)
            return false
        }
        self.running.remove(zone)
        return true
    }
}
