import RecordModel
import RecordStore

/// The cost of users' subscriptions to the router lately, and whose may cost it more.
///
/// Costs are in comparisons: of a value of a record with one of a condition. What a user has spent
/// is a debt that time pays off; it is bounded for all of them together, and nobody may have more
/// of it than is left for the others. So no user waits for the comparisons of all others longer
/// than it takes to make `debtMax` of them, and they take a bounded part of the router's time,
/// however many users there are.
struct RoutingBudget {
    struct Limits: Hashable, Sendable {
        /// Of all users together; one alone may have half of it.
        var debtMax = Bounds.subscriptionDebtMax
        /// What a user pays off in a second.
        var perSecond = Bounds.subscriptionDebtPerSecond
        /// What all users pay off together.
        var totalPerSecond = Bounds.subscriptionDebtTotalPerSecond

        static let defaults = Limits()
    }

    /// What one user owes.
    final class Account {
        let holder: AccountHolder
        fileprivate(set) var debt = 0

        fileprivate init(_ holder: AccountHolder) {
            self.holder = holder
        }
    }

    /// What finding out whether somebody may read a record costs.
    static let questionCost = 200
    /// What a change costs before anything is compared with it.
    static let changeCost = 20
    /// What a notification costs, besides one for each listener.
    static let notificationCost = 50

    /// Time is paid for at least so much at once.
    static let tickMilliseconds: Int64 = 5
    /// A pause is worth no more than this.
    private static let pauseMillisecondsMax: Int64 = 1_000

    private let limits: Limits
    private let bound: SharedBound
    /// Those that owe something.
    private var indebted: [AccountHolder: Account] = [:]
    private var debt = 0
    /// What has been charged so far, to whomever.
    private(set) var charged = 0
    private var paidMilliseconds: Int64?

    init(_ limits: Limits = .defaults) {
        self.limits = limits
        self.bound = SharedBound(capacity: limits.debtMax)
    }

    /// The account of a user: the one that is there while something is owed.
    func account(of holder: AccountHolder) -> Account {
        self.indebted[holder] ?? Account(holder)
    }

    /// Whether a user's subscriptions may cost anything now; what it is, is charged afterwards.
    func admits(_ account: Account) -> Bool {
        self.bound.admits(1, own: account.debt, all: self.debt)
    }

    mutating func charge(_ cost: Int, to account: Account) {
        guard cost > 0 else { return }
        if account.debt == 0 { self.indebted[account.holder] = account }
        account.debt += cost
        self.debt += cost
        self.charged += cost
    }

    /// Pays debts off for the time that has passed.
    ///
    /// `false`: hardly any has.
    mutating func pay(nowMilliseconds now: Int64) -> Bool {
        guard let paidMilliseconds else {
            self.paidMilliseconds = now
            return true
        }
        let passed = min(now - paidMilliseconds, Self.pauseMillisecondsMax)
        guard passed >= Self.tickMilliseconds else { return false }
        self.paidMilliseconds = now
        guard !self.indebted.isEmpty else { return true }
        let part = min(self.limits.perSecond, self.limits.totalPerSecond / self.indebted.count)
        let paid = max(1, part * Int(passed) / 1_000)
        for (holder, account) in self.indebted {
            let less = min(paid, account.debt)
            account.debt -= less
            self.debt -= less
            if account.debt == 0 { self.indebted[holder] = nil }
        }
        return true
    }
}
