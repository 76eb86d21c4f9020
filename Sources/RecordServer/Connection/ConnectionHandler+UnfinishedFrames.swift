import NIOCore
import Transport
import WireProtocol

/// A frame of which only a part has come, as a connection last looked.
struct UnfinishedFrame {
    /// Up to so many bytes belong to the connection, like its other memory.
    static let freeBytes = 8 * 1_024

    /// Its number among those that came in pieces.
    var number: UInt64 = 0
    var began = NIODeadline.uptimeNanoseconds(0)
    /// What the holder's account has of it.
    var countedBytes = 0
}

// Frames that have begun: each has a time, and the holder's account has the memory of all.
extension ConnectionHandler {
    /// Looks, after something came, whether a frame is incomplete, or frames wait for a turn.
    func watchUnfinishedFrame() {
        let bytes = self.frames.unfinishedBytes
        let waiting = self.frames.waitingBytes
        guard bytes > 0 || waiting > 0 || self.unfinished.countedBytes > 0, self.context != nil else {
            return
        }
        if bytes > 0, self.unfinished.number != self.frames.framesInPieces {
            self.unfinished.number = self.frames.framesInPieces
            self.unfinished.began = self.keepalive.heardAt
            if self.frameTimer == nil { self.startFrameTimer() }
        }
        let counted = bytes + waiting > UnfinishedFrame.freeBytes ? bytes + waiting : 0
        let change = counted - self.unfinished.countedBytes
        guard change <= 0 || self.account.unfinishedFrames.hasRoom(for: change) else {
            return self.close(.overloaded, detail: "unfinished frames")
        }
        self.account.unfinishedFrames.add(change)
        self.unfinished.countedBytes = counted
    }

    /// Gives back what the account has of the connection.
    func forgetUnfinishedFrame() {
        self.frameTimer?.cancel()
        self.frameTimer = nil
        self.account.unfinishedFrames.add(-self.unfinished.countedBytes)
        self.unfinished.countedBytes = 0
    }

    /// One timer at a time: it is set anew when it fires, not with every frame.
    private func startFrameTimer() {
        let end = self.unfinished.began + TimeAmount(self.server.configuration.timeouts.frame)
        self.frameTimer = self.eventLoop.assumeIsolated().scheduleTask(deadline: end) {
            self.frameTimer = nil
            guard self.context != nil, self.frames.unfinishedBytes > 0 else { return }
            let age = self.eventLoop.now - self.unfinished.began
            guard age >= TimeAmount(self.server.configuration.timeouts.frame) else {
                return self.startFrameTimer()
            }
            self.close(.frameTimeout)
        }
    }
}
