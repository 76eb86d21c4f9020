import RecordStore
import Transport

/// What the connections of one holder have of the server together.
///
/// Found once for a connection, and used without a lock from then on, by connections on all event
/// loops.
final class Account: Sendable {
    let holder: AccountHolder
    /// Bytes of answers, from the moment in which a thread is asked for them until the client has
    /// taken them.
    let answers: HeldAmount
    /// Bytes of frames that have begun.
    let unfinishedFrames: HeldAmount
    let controlFrames = ControlFramePace()

    init(_ holder: AccountHolder, answers: SharedAmount, unfinishedFrames: SharedAmount) {
        self.holder = holder
        self.answers = HeldAmount(of: answers)
        self.unfinishedFrames = HeldAmount(of: unfinishedFrames)
    }
}
