/// A bound for all holders of something together, of which nobody may have more than is left for the others.
///
/// So one greedy holder has half of it at the most, and *n* of them have 1/(*n* + 1) each: there is always room for one more. Known as
/// dynamic thresholds (Choudhury and Hahne, 1998), here with the factor 1. It needs two sums, and no count of holders.
package struct SharedBound: Hashable, Sendable {
    /// What all may have together, in any unit; at least 0.
    package let capacity: Int

    package init(capacity: Int) {
        self.capacity = capacity
    }

    /// Whether a holder who has `own` of what `all` have together, this holder included, may have so much more; each at least 0.
    package func admits(_ added: Int, own: Int, all: Int) -> Bool {
        own + added <= self.capacity - all - added
    }

    /// How much more a holder may have, at least 0.
    package func room(own: Int, all: Int) -> Int {
        max(0, (self.capacity - all - own) / 2)
    }
}
