/// Knowledge of rules about tables that lasts from one transaction to the next.
///
/// Rules fill it from rows that they read, and update it with rows that they write. An engine does
/// not interpret it. It gives a transaction the memory of the one before, if no other process wrote
/// in between and no transaction was rolled back. Otherwise it gives an empty one, which costs a
/// few reads.
package final class RuleMemory {
    /// `nil` while it is empty.
    package var contents: (any RuleMemoryContents)?

    package init() {}

    /// The number of entries, for engines that bound their memory.
    package var count: Int { self.contents?.count ?? 0 }
}

/// The memory as the rules have it.
package protocol RuleMemoryContents: AnyObject {
    /// The number of entries.
    var count: Int { get }
}
