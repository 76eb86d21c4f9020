/// A bound on the sum over all holders, which leaves as much room for others as one holder takes.
///
/// One greedy holder gets half of it at most, and *n* of them get 1/(*n* + 1) each. So there is
/// always room for one more. The method needs two sums, and no count of holders.
///
/// - Source: Choudhury and Hahne, *Dynamic Queue Length Thresholds* (1998), here with the factor 1.
package struct SharedBound: Hashable, Sendable {
    /// The maximum that all holders may have together, in any unit; at least 0.
    package let capacity: Int

    package init(capacity: Int) {
        self.capacity = capacity
    }

    /// Whether a holder may have `added` more.
    ///
    /// The holder has `own`, and all holders together, including this one, have `all`. Each number
    /// is at least 0.
    package func admits(_ added: Int, own: Int, all: Int) -> Bool {
        own + added <= self.capacity - all - added
    }

    /// How much more a holder may have, at least 0.
    package func room(own: Int, all: Int) -> Int {
        max(0, (self.capacity - all - own) / 2)
    }
}
