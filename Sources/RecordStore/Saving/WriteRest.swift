import RecordModel

/// The rest of a request that takes more than one transaction.
///
/// Until the last of them it counts as not executed: a client that repeats it after a crash has it
/// executed again, and what it did already is found done.
package enum WriteRest: Sendable {
    /// Deletes take more along than one transaction should.
    case cascade(CascadeTurns)
    /// URLs lead to shares of another owner.
    case joining(JoinProgress)
    /// All is done in the databases of others; the requester's own has to follow.
    case following([WriteOutcome])

    /// Whether the next transaction does a piece of it, and none of the request's own items.
    package var takesTurn: Bool {
        if case .cascade(let turns) = self { !turns.isSettled } else { false }
    }
}
