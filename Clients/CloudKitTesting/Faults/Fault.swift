package import RecordServer
package import WireProtocol

/// A request that a fault may befall.
package struct FaultOccasion: Hashable, Sendable {
    package var operation: OperationKind
    /// Which request of its kind on this server this is, from 1.
    package var ordinal: Int
    /// `nil` if no user is signed in.
    package var userRecordName: String?
}

/// The treatment of a request: a delay, or an outcome in place of the usual one.
package enum Fault: Hashable, Sendable {
    /// The whole request fails; nothing is executed.
    case refuse(Failure)
    /// The item with this number fails and the others are executed; in an atomic request they fail with it.
    case refuseItem(Int, Failure)
    /// The connection breaks, and nothing was executed.
    case dropConnectionBeforeExecution
    /// The connection breaks after the request was executed and before its answer.
    case dropConnectionAfterCommit
    /// The request is executed later.
    case delay(Duration)
    /// The request is executed when the gate opens.
    case hold(FaultGate)
}

/// Decides about faults.
///
/// Called on event loops: must not block.
package typealias FaultInjector = @Sendable (FaultOccasion) -> Fault?
