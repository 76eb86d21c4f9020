/// Limits how many unknown share URLs a user may look up.
///
/// A token of no share is a miss. A minute's misses may come at once, then they refill evenly;
/// until then every token is refused alike, so that a response reveals nothing. A token of a share
/// costs nothing.
struct GuessPace {
    private static let windowMicroseconds: Int64 = 60_000_000
    /// At this bound all users are forgotten: only as many users with recent misses can reach it.
    private static let usersMax = 65_536
    /// The wait when a user has too many look-ups in flight for another request.
    private static let crowdedMilliseconds: UInt32 = 1_000

    private struct Account {
        /// When all used-up misses are refilled: microseconds since 1970.
        var fullAgain: Int64
        /// Tokens in look-up: the number of misses among them is not known yet.
        var asking: Int
    }

    /// The cost of one miss.
    private let missMicroseconds: Int64
    private let burstMicroseconds: Int64
    private let askingMax: Int
    private var accounts: [String: Account] = [:]

    /// - Parameters:
    ///   - missesPerMinuteMax: At least 1.
    ///   - askingMax: Maximum number of a user's tokens in look-up before another request is
    ///     refused.
    init(missesPerMinuteMax: Int, askingMax: Int) {
        self.missMicroseconds = max(Self.windowMicroseconds / Int64(missesPerMinuteMax), 1)
        self.burstMicroseconds = self.missMicroseconds * Int64(missesPerMinuteMax)
        self.askingMax = askingMax
    }

    /// Number of users in memory.
    var count: Int { self.accounts.count }

    /// A user asks for tokens.
    ///
    /// - Returns: Milliseconds to wait; `nil` if the tokens are looked up now; then `answered` must
    ///   be called, whatever the result.
    mutating func asked(_ count: Int, by user: String, nowMilliseconds: Int64) -> UInt32? {
        let now = nowMilliseconds * 1_000
        var account = self.account(of: user, now)
        let room = now + self.burstMicroseconds - account.fullAgain - self.missMicroseconds
        guard room >= 0 else { return UInt32(clamping: (-room + 999) / 1_000) }
        guard account.asking < self.askingMax else { return Self.crowdedMilliseconds }
        account.asking += count
        self.accounts[user] = account
        return nil
    }

    /// The look-up of `count` tokens ended, with `misses` misses.
    mutating func answered(_ count: Int, misses: Int, by user: String, nowMilliseconds: Int64) {
        let now = nowMilliseconds * 1_000
        var account = self.account(of: user, now)
        account.asking = max(account.asking - count, 0)
        account.fullAgain += Int64(misses) * self.missMicroseconds
        let isIdle = account.asking == 0 && account.fullAgain <= now
        self.accounts[user] = isIdle ? nil : account
    }

    private mutating func account(of user: String, _ now: Int64) -> Account {
        if var account = self.accounts[user] {
            // A clock that was set back costs users no more than their misses.
            let most = now + self.burstMicroseconds + 2 * Int64(self.askingMax) * self.missMicroseconds
            account.fullAgain = min(max(account.fullAgain, now), most)
            return account
        }
        if self.accounts.count >= Self.usersMax {
            self.accounts = self.accounts.filter { $0.value.asking > 0 || $0.value.fullAgain > now }
            if self.accounts.count >= Self.usersMax { self.accounts = [:] }
        }
        return Account(fullAgain: now, asking: 0)
    }
}
