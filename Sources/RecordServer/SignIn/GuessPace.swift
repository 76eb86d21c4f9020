/// How many URLs of shares that lead nowhere a user may ask for.
///
/// A token that leads nowhere is a miss. Misses of a minute may come at once, then one more each
/// time that a part of a minute has passed; until then every token is refused alike, so that a
/// response tells nothing. A token that leads somewhere costs nothing.
struct GuessPace {
    private static let windowMicroseconds: Int64 = 60_000_000
    /// At the bound all are forgotten: it takes as many users with misses of the last minute to get
    /// there.
    private static let usersMax = 65_536
    /// How long to wait when so many tokens are looked for that another request has to wait for
    /// their results.
    private static let crowdedMilliseconds: UInt32 = 1_000

    private struct Account {
        /// When all misses that were used up are there again: microseconds since 1970.
        var fullAgain: Int64
        /// Tokens that are being looked for: how many of them are misses is not known yet.
        var asking: Int
    }

    /// What one miss costs.
    private let missMicroseconds: Int64
    private let burstMicroseconds: Int64
    private let askingMax: Int
    private var accounts: [String: Account] = [:]

    /// - Parameters:
    ///   - missesPerMinuteMax: From 1.
    ///   - askingMax: Tokens that are looked for at one time for a user, before another request is
    ///     refused.
    init(missesPerMinuteMax: Int, askingMax: Int) {
        self.missMicroseconds = max(Self.windowMicroseconds / Int64(missesPerMinuteMax), 1)
        self.burstMicroseconds = self.missMicroseconds * Int64(missesPerMinuteMax)
        self.askingMax = askingMax
    }

    /// Users that are remembered.
    var count: Int { self.accounts.count }

    /// A user asks where tokens lead.
    ///
    /// - Returns: Milliseconds to wait; `nil` if they are looked for now, and then `answered` is
    ///   called, whatever comes of it.
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

    /// So many of the tokens that a user asked for led nowhere.
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
            // A clock that was set back costs no user more than their misses.
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
