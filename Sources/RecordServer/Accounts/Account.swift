import Admission
import Transport

/// The shares of the server's memory that all connections of one holder use together.
///
/// Found once for a connection, then used without a lock by connections on all event loops.
final class Account: Sendable {
    let holder: AccountHolder
    /// Bytes of responses, from the request to a thread until the client has taken them.
    let responses: HeldAmount
    /// Bytes of frames that have begun.
    let unfinishedFrames: HeldAmount
    let controlFrames = ControlFramePace()

    init(_ holder: AccountHolder, responses: SharedAmount, unfinishedFrames: SharedAmount) {
        self.holder = holder
        self.responses = HeldAmount(of: responses)
        self.unfinishedFrames = HeldAmount(of: unfinishedFrames)
    }
}
