import NIOCore
import Transport
import WireProtocol

// From bytes to frames, during a turn of the connection's holder on the event loop.
extension ConnectionHandler {
    func received(_ piece: ByteBuffer) {
        self.takeFrames {
            try self.frames.received(piece, while: { self.time.isTurn }) { self.take($0) }
        }
    }

    /// Handles queued frames in a turn of their holder.
    func resumeFrames() {
        self.isWaitingForTurn = false
        guard let context = self.connection.context else { return }
        self.time.turnBegan(at: self.connection.eventLoop.now)
        self.takeFrames {
            try self.frames.resume(while: { self.time.isTurn }) { self.take($0) }
        }
        self.connection.flush()
        self.time.workEnded(at: self.connection.eventLoop.now)
        self.readHeldBack(context)
    }

    private func takeFrames(_ take: () throws -> Void) {
        do {
            try take()
            if self.connection.isOpen { self.lookAtUnfinishedFrame() }
        } catch let error as WireError {
            self.connection.close(error.closeReason, detail: error.field)
        } catch {
            self.connection.close(.internalError)
        }
        guard let account = self.time.account, self.frames.waitingBytes > 0, !self.isWaitingForTurn
        else { return }
        self.isWaitingForTurn = true
        self.connection.loop.turns.wait(self, of: account)
    }

    private func take(_ frame: Frame) {
        self.frameReceived(frame)
        self.time.pay(at: self.connection.eventLoop.now)
    }

    // MARK: - Frames that have begun

    private func lookAtUnfinishedFrame() {
        let action = self.unfinished.look(
            at: self.frames,
            receivedAt: self.keepalive.receivedAt,
            account: self.connection.account
        )
        switch action {
        case .watch(let end): if self.frameTimer == nil { self.startFrameTimer(at: end) }
        case .goOn: break
        case .refuse: self.connection.close(.overloaded, detail: "unfinished frames")
        }
    }

    /// There is one timer: it is restarted when it fires, not with every frame.
    private func startFrameTimer(at end: NIODeadline) {
        let eventLoop = self.connection.eventLoop
        self.frameTimer = eventLoop.assumeIsolated().scheduleTask(deadline: end) {
            self.frameTimer = nil
            guard self.connection.isOpen else { return }
            let isUnfinished = self.frames.unfinishedBytes > 0
            switch self.unfinished.timerFired(at: eventLoop.now, isUnfinished: isUnfinished) {
            case .watch(let end): self.startFrameTimer(at: end)
            case .ignore: break
            case .close: self.connection.close(.frameTimeout)
            }
        }
    }
}
