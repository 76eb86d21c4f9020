import RecordModel
import NIOCore
import Transport
import WireProtocol

// From bytes to frames, for as long as a turn of the connection's holder on the event loop lasts.
extension ConnectionHandler {
    func received(_ piece: ByteBuffer) {
        self.takeFrames {
            try self.frames.received(piece, while: { self.isTurn }) { self.takeFrame($0) }
        }
    }

    /// Goes on with the frames that wait: it is a turn of their holder.
    func resumeFrames() {
        self.isWaitingForTurn = false
        guard let context else { return }
        self.paidUntil = self.eventLoop.now
        self.takeFrames {
            try self.frames.resume(while: { self.isTurn }) { self.takeFrame($0) }
        }
        self.flush()
        self.finishWork()
        self.readHeldBack(context)
    }

    /// Charges the holder with what was not charged yet: the connection does nothing more now.
    func finishWork() {
        self.pay()
        self.paidUntil = nil
    }

    private func takeFrames(_ take: () throws -> Void) {
        do {
            try take()
            self.watchUnfinishedFrame()
        } catch let error as WireError {
            self.close(error.closeReason, detail: error.field)
        } catch {
            self.close(.internalError)
        }
        guard let loopAccount, self.frames.waitingBytes > 0, !self.isWaitingForTurn else { return }
        self.isWaitingForTurn = true
        self.loop.turns.wait(self, of: loopAccount)
    }

    private func takeFrame(_ frame: Frame) {
        self.frameReceived(frame)
        self.pay()
    }

    private func pay() {
        guard let loopAccount, let paidUntil else { return }
        let now = self.eventLoop.now
        loopAccount.spend(now - paidUntil)
        self.paidUntil = now
    }

    /// Whether the next frame is to be handled now, and not in a later turn.
    private var isTurn: Bool {
        guard let loopAccount else { return true }
        return loopAccount.left > .zero
    }
}
