import NIOCore
import Transport

/// The bytes of frames that are incomplete, or that wait for a turn.
///
/// Each begun frame has a deadline; the holder's account counts the memory of all.
struct UnfinishedFrame {
    /// Bytes up to this size are not counted, like a connection's other memory.
    static let freeBytes = 8 * 1_024

    enum OnLook: Equatable {
        /// A frame has begun, with this deadline.
        case watch(until: NIODeadline)
        case goOn
        /// The holder has no room for it.
        case refuse
    }

    enum OnTimer: Equatable {
        /// Another frame has begun meanwhile.
        case watch(until: NIODeadline)
        case ignore
        case close
    }

    private let timeout: TimeAmount
    /// Its number among frames that arrived in pieces.
    private var number: UInt64 = 0
    private var began = NIODeadline.uptimeNanoseconds(0)
    /// Bytes counted in the holder's account.
    private var countedBytes = 0

    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    /// Checks, after input, whether a frame is incomplete or frames wait for a turn.
    mutating func look(at frames: FrameAssembly, receivedAt: NIODeadline, account: Account) -> OnLook {
        let bytes = frames.unfinishedBytes
        let waiting = frames.waitingBytes
        guard bytes > 0 || waiting > 0 || self.countedBytes > 0 else { return .goOn }
        var isNew = false
        if bytes > 0, self.number != frames.framesInPieces {
            self.number = frames.framesInPieces
            self.began = receivedAt
            isNew = true
        }
        let counted = bytes + waiting > Self.freeBytes ? bytes + waiting : 0
        let change = counted - self.countedBytes
        guard change <= 0 || account.unfinishedFrames.hasRoom(for: change) else { return .refuse }
        account.unfinishedFrames.add(change)
        self.countedBytes = counted
        return isNew ? .watch(until: self.began + self.timeout) : .goOn
    }

    /// Checks whether a frame's deadline has passed.
    func timerFired(at now: NIODeadline, isUnfinished: Bool) -> OnTimer {
        guard isUnfinished else { return .ignore }
        let end = self.began + self.timeout
        return now >= end ? .close : .watch(until: end)
    }

    /// Returns the account's bytes after the connection has ended.
    mutating func end(in account: Account) {
        account.unfinishedFrames.add(-self.countedBytes)
        self.countedBytes = 0
    }
}
