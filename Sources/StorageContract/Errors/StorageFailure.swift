/// Why a primitive of a transaction failed, or its commit.
///
/// Codes are the engine's own numbers, for its operator.
@usableFromInline
package enum StorageFailure: Error, Hashable, Sendable {
    /// The storage takes nothing now, because the disk is full or cannot be reached. The same may
    /// succeed later.
    case unavailable(code: Int32)
    /// A fault of the server, or damaged data.
    case unexpected(code: Int32)
    /// Another transaction came in between, and nothing of this one was committed: the store runs the
    /// rules again from their beginning.
    case conflict
    /// The connection to the storage was lost during the commit: the store runs the rules again, which
    /// look up the request ID first.
    case outcomeUnknown
    /// The request would take the writer for too long, which became known while it was executed.
    ///
    /// `work` is the work counted until then, in the rule's unit; its holder pays for it.
    case exceeds(WorkBound, work: Int)
}
