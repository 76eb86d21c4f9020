import RecordStore
import StorageContract

// Changes reported only as a position, or without their details, become change hints for the
// subscriptions of the changed zones, as far as the database's tail names them.
extension NotificationRouting {
    /// A position was reported, and the tail of the database up to there has been read.
    ///
    /// Every subscription to a changed zone gets a hint, since earlier values of its records are
    /// unknown. If there is no tail, or it is incomplete, every subscription of the database gets
    /// one.
    mutating func readOn(_ tail: ChangeTail?, of database: DatabaseID, upTo position: Int64) {
        defer { self.advance(database, to: position) }
        guard let zones = tail?.zones else { return self.skipped(database, upTo: position) }
        var groups: [WatchGroup] = []
        for zone in Set(zones.map(\.zone)) {
            self.index.forEach(lookingAt: zone, of: database) { groups.append($0) }
        }
        self.owe(groups, upTo: position)
    }

    /// The details of transactions were dropped: every subscription of the database gets a hint.
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

    /// The users who listen in a database, in batches for requests to the store.
    func owners(in database: DatabaseID) -> [[String]] {
        let owners = self.followed[database]?.audiences.keys.sorted() ?? []
        return stride(from: 0, to: owners.count, by: Self.ownersMax).map {
            Array(owners[$0..<min($0 + Self.ownersMax, owners.count)])
        }
    }

    private static let ownersMax = 256

    /// Replaces the watched subscriptions by those that users have in a database, saved by any
    /// process.
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

/// A database that has listeners.
struct FollowedDatabase {
    /// Every change up to this position has been routed.
    private(set) var position: Int64 = 0
    /// The listening users, by record name.
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
