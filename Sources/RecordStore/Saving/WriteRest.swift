import RecordModel

/// The rest of a request that takes more than one transaction.
///
/// Until the last of them it counts as not executed: if a client repeats it after a crash, it is
/// executed again, and finds its earlier work done.
package enum WriteRest: Sendable {
    /// Deletes by name cost more than one transaction may: the next one finds the records that go
    /// in turns.
    case cutting
    /// Deletes go in turns.
    case cascade(CascadeTurns)
    /// Zones have more shares than one transaction should end.
    case unsharing
    /// URLs lead to shares of another owner.
    case joining(JoinProgress)
    /// All databases of other users are done; the requester's own has to follow.
    case following([WriteOutcome])

    /// Whether the next transaction does a piece of it, and none of the request's own items.
    package var takesTurn: Bool {
        switch self {
        case .cascade(let turns): !turns.isSettled
        case .cutting, .unsharing: true
        case .joining, .following: false
        }
    }

    /// Whether deletes by name go in turns, so that the request as a whole has no bound.
    var isCut: Bool {
        switch self {
        case .cutting: true
        case .cascade(let turns): turns.batchCut != nil
        case .joining, .unsharing, .following: false
        }
    }
}
