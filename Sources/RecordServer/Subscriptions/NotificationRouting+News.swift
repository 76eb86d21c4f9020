import RecordStore

// What could not be found out, because a user's subscriptions would have cost too much, is told as
// news: later, and as much of it as the user can afford.
extension NotificationRouting {
    /// News that are told at a time, in all.
    private static let newsMax = 256

    /// The subscriptions of a group are to hear that there may be news.
    mutating func owe(_ group: WatchGroup, upTo position: Int64) {
        let user = group.audience.user
        if group.owed.isPaid {
            if user.owedGroups.isEmpty { self.owing.append(user) }
            user.owedGroups.append(group)
        }
        group.owed.add(upTo: position)
    }

    /// Tells some of what is owed: each user in turn, who can afford it.
    mutating func tellOwed(nowMilliseconds now: Int64) {
        var users: [ListeningUser] = []
        swap(&users, &self.owing)
        var rest = Self.newsMax
        var isOwed: [ListeningUser] = []
        var seen = 0
        for user in users where rest > 0 {
            self.tellOwed(to: user, nowMilliseconds: now, &rest)
            if !user.owedGroups.isEmpty { isOwed.append(user) }
            seen += 1
        }
        self.owing = users.dropFirst(seen) + isOwed
    }

    private mutating func tellOwed(to user: ListeningUser, nowMilliseconds now: Int64, _ rest: inout Int) {
        var groups: [WatchGroup] = []
        swap(&groups, &user.owedGroups)
        var isOwed: [WatchGroup] = []
        var done = 0
        for group in groups where rest > 0 {
            guard group.owed.isDue(nowMilliseconds: now, of: group.watches.count),
                self.tell(group, &rest)
            else { break }
            if !group.owed.isPaid { isOwed.append(group) }
            done += 1
        }
        user.owedGroups = groups.dropFirst(done) + isOwed
    }

    /// Goes on with a lap.
    ///
    /// - Returns: Whether it is over.
    private mutating func tell(_ group: WatchGroup, _ rest: inout Int) -> Bool {
        while group.owed.left > 0 {
            guard rest > 0, self.budget.admits(group.audience.user.account) else { return false }
            guard let place = group.owed.takeNext(of: group.watches.count) else { break }
            let watch = group.watches[place]
            let position = max(group.owed.position, watch.toldPosition)
            // One that fired once, or that came later, has nothing to hear.
            guard !watch.isSpent, watch.wasThere(at: group.owed.position) else { continue }
            let news = watch.subject.news(upTo: position, isCoalesced: true, fires: false)
            self.post(news, of: watch, excluding: nil)
            self.counts.news += 1
            rest -= 1
        }
        return true
    }
}
