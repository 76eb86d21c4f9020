import Admission
import RecordModel

/// Limits the cost that each user's subscriptions cause the router.
///
/// The unit is a comparison of a record's value with a condition's. A user's cost is a debt that
/// time pays off. The debt of all users together is bounded, and no user may have more of it than
/// is left for the others. So no user waits longer for other users than `debtMax` comparisons take,
/// and comparisons take a bounded part of the router's time, for any number of users.
struct RoutingBudget {
    struct Limits: Hashable, Sendable {
        /// Of all users together; one alone may use half of it.
        var debtMax = Bounds.subscriptionDebtMax
        /// Amount that a user pays off in a second.
        var perSecond = Bounds.subscriptionDebtPerSecond
        /// Amount that all users together pay off in a second.
        var totalPerSecond = Bounds.subscriptionDebtTotalPerSecond

        static let defaults = Limits()
    }

    /// The debt of one user.
    final class Account {
        let holder: AccountHolder
        fileprivate(set) var debt = 0

        fileprivate init(_ holder: AccountHolder) {
            self.holder = holder
        }
    }

    /// Cost of checking a user's permission to read a record.
    static let questionCost = 200
    /// Cost of a change, before any comparison.
    static let changeCost = 20
    /// Cost of a notification, plus one for each listener.
    static let notificationCost = 50

    /// Minimum time between two payments.
    static let tickMilliseconds: Int64 = 5
    /// A longer pause counts no more than this.
    private static let pauseMillisecondsMax: Int64 = 1_000

    private let limits: Limits
    private let bound: SharedBound
    /// Accounts with a debt.
    private var indebted: [AccountHolder: Account] = [:]
    private var debt = 0
    /// The total that was charged so far.
    private(set) var charged = 0
    private var paidMilliseconds: Int64?

    init(_ limits: Limits = .defaults) {
        self.limits = limits
        self.bound = SharedBound(capacity: limits.debtMax)
    }

    /// The account of a user; the existing one while it has a debt.
    func account(of holder: AccountHolder) -> Account {
        self.indebted[holder] ?? Account(holder)
    }

    /// Whether a user's subscriptions may cost anything now; the cost is charged afterwards.
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
    /// - Returns: `false` if hardly any has.
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
