import RecordStore

// Changes that were reported as a position alone, or whose details were dropped, become news for
// those who look where something changed, as far as the tail of the database says where.
extension NotificationRouting {
    /// A position was reported, and the tail of the database up to there has been read.
    ///
    /// Every subscription that looks at a changed zone has news: nobody knows what a record in it
    /// was before. Without a tail, or if the tail does not tell, every subscription of the database
    /// has news.
    mutating func readOn(_ tail: ChangeTail?, of database: DatabaseID, upTo position: Int64) {
        defer { self.advance(database, to: position) }
        guard let zones = tail?.zones else { return self.skipped(database, upTo: position) }
        var groups: [WatchGroup] = []
        for zone in Set(zones.map(\.zone)) {
            self.index.forEach(lookingAt: zone, of: database) { groups.append($0) }
        }
        self.owe(groups, upTo: position)
    }

    /// The details of transactions were dropped: every subscription of the database has news.
    mutating func skipped(_ database: DatabaseID, upTo position: Int64) {
        var groups: [WatchGroup] = []
        self.index.forEach(in: database) { groups.append($0) }
        self.owe(groups, upTo: position)
        self.advance(database, to: position)
    }

    private mutating func owe(_ groups: [WatchGroup], upTo position: Int64) {
        self.uncharged += groups.count
        for group in groups { self.owe(group, upTo: position) }
    }

    /// Those who listen in a database, in pieces about which the store can be asked.
    func owners(in database: DatabaseID) -> [[String]] {
        let owners = self.followed[database]?.audiences.keys.sorted() ?? []
        return stride(from: 0, to: owners.count, by: Self.ownersMax).map {
            Array(owners[$0..<min($0 + Self.ownersMax, owners.count)])
        }
    }

    private static let ownersMax = 256

    /// The subscriptions that users have in a database, of whatever process: in place of those that
    /// are watched.
    mutating func found(
        _ subscriptions: [WatchedSubscription],
        of owners: [String],
        in database: DatabaseID
    ) {
        let present = Dictionary(grouping: subscriptions, by: \.key.owner)
        for owner in owners {
            guard let audience = self.followed[database]?.audiences[owner] else { continue }
            let own = present[owner] ?? []
            let ids = Set(own.map(\.key.id))
            for id in audience.watches.keys where !ids.contains(id) { self.forget(id, of: audience) }
            for watched in own { self.watch(watched, of: audience) }
            self.uncharged += own.count + 1
        }
    }
}

/// A database that somebody listens in.
struct FollowedDatabase {
    /// Everything up to here has been taken care of.
    private(set) var position: Int64 = 0
    /// Those who listen, by their record name.
    private(set) var audiences: [String: Audience] = [:]

    var isEmpty: Bool { self.audiences.isEmpty }

    mutating func join(_ audience: Audience, at position: Int64) {
        self.audiences[audience.user.signIn.userRecordName ?? ""] = audience
        self.advance(to: position)
    }

    mutating func leave(_ audience: Audience) {
        self.audiences[audience.user.signIn.userRecordName ?? ""] = nil
    }

    mutating func advance(to position: Int64) { self.position = max(self.position, position) }
}
