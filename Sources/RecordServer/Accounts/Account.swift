import RecordStore
import Transport

/// The shares that the connections of one holder have of the server together.
///
/// Found once for a connection, and used without a lock from then on, by connections on all event
/// loops.
final class Account: Sendable {
    let holder: AccountHolder
    /// Bytes of responses, from the moment in which a thread is asked for them until the client has
    /// taken them.
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
