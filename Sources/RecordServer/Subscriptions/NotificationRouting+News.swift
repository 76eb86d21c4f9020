import RecordStore

// Changes that were not compared, because a user's subscriptions would have cost too much, become
// change hints: sent later, as far as the user's budget allows.
extension NotificationRouting {
    /// Maximum number of hints that are sent at a time, in total.
    private static let newsMax = 256

    /// Owes a group of subscriptions a change hint.
    mutating func owe(_ group: WatchGroup, upTo position: Int64) {
        let user = group.audience.user
        if group.owed.isPaid {
            if user.owedGroups.isEmpty { self.owing.append(user) }
            user.owedGroups.append(group)
        }
        group.owed.add(upTo: position)
    }

    /// Sends some of the owed hints, round robin by user, within each user's budget.
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

    /// Continues a lap.
    ///
    /// - Returns: Whether it is complete.
    private mutating func tell(_ group: WatchGroup, _ rest: inout Int) -> Bool {
        while group.owed.left > 0 {
            guard rest > 0, self.budget.admits(group.audience.user.account) else { return false }
            guard let index = group.owed.takeNext(of: group.watches.count) else { break }
            let watch = group.watches[index]
            let position = max(group.owed.position, watch.notifiedPosition)
            // Skips subscriptions that fired their only time or were saved later.
            guard !watch.isSpent, watch.wasThere(at: group.owed.position) else { continue }
            let news = watch.subject.news(upTo: position, isCoalesced: true, fires: false)
            self.post(news, of: watch, excluding: nil)
            self.counts.news += 1
            rest -= 1
        }
        return true
    }
}
