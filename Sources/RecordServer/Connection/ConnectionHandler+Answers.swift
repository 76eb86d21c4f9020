import NIOCore
import RecordStore
import Transport
import WireProtocol

// From outcomes to frames: as many as the windows and the socket take, the rest when they take more.
extension ConnectionHandler {
    /// An `items` frame ends before the item that takes it beyond this; one larger item has a frame of its own.
    static let itemsFrameBytesMax = 64 * 1_024

    /// What one tick writes is flushed at its end, or when it is more than this: a page of 200 records and its end leave together.
    private static let outboundBytesMax = 160 * 1_024

    private enum Progress {
        case frameSent
        case blocked
        case ended
    }

    /// Sends an answer as far as it goes.
    ///
    /// Others that wait for the same windows come first.
    func send(_ answer: Answer) {
        guard self.blocked.isEmpty else {
            self.blocked.append(answer.stream)
            return self.resumeBlocked()
        }
        while true {
            switch self.sendFrame(of: answer) {
            case .frameSent: continue
            case .ended: return
            case .blocked:
                self.blocked.append(answer.stream)
                return self.startCreditTimer()
            }
        }
    }

    /// Lets the streams that wait send a frame each in turn, until none can.
    func resumeBlocked() {
        var turn = self.blocked
        self.blocked = []
        while !turn.isEmpty, self.context != nil {
            var next: [UInt32] = []
            for stream in turn {
                guard let answer = self.answers[stream] else { continue }
                switch self.sendFrame(of: answer) {
                case .frameSent: next.append(stream)
                case .blocked: self.blocked.append(stream)
                case .ended: break
                }
            }
            turn = next
        }
        if self.blocked.isEmpty {
            self.progressed()
        } else {
            self.startCreditTimer()
        }
        self.executeWaiting()
    }

    private func sendFrame(of answer: Answer) -> Progress {
        guard case .sending(let outcomes, let next) = answer.stage else { return .ended }
        guard next < outcomes.count else {
            // Only one that tells what a schema lacks is large: it waits until the socket takes bytes.
            if case .ended = outcomes, self.context?.channel.isWritable == false {
                if answer.heldBytes == 0 { self.hold(outcomes.heldBytes, for: answer) }
                return .blocked
            }
            self.end(answer.stream, with: outcomes.end)
            return .ended
        }
        guard let context, context.channel.isWritable, self.machine.maySendItems(on: answer.stream) else {
            // Counted once it must wait: an answer that goes out in the tick of its request is nobody's burden.
            if answer.heldBytes == 0 { self.hold(outcomes.heldBytes, for: answer) }
            return .blocked
        }
        let sent = self.writeItems(of: answer, outcomes: outcomes, from: next)
        answer.stage = .sending(outcomes, next: sent)
        self.progressed()
        guard sent == outcomes.count else { return .frameSent }
        self.end(answer.stream, with: outcomes.end)
        return .ended
    }

    /// Writes one `items` frame.
    ///
    /// - Returns: The index of the first outcome that did not fit.
    private func writeItems(of answer: Answer, outcomes: Outcomes, from first: Int) -> Int {
        self.prepareOutbound()
        var next = first
        let payloadBytes = FrameEncoder.write(.items, stream: answer.stream, into: &self.outbound) { buffer in
            let start = buffer.writerIndex
            while next < outcomes.count {
                let itemStart = buffer.writerIndex
                let failure = outcomes.append(at: next, number: UInt32(next), toItems: &buffer)
                if itemStart > start, buffer.writerIndex - start > Self.itemsFrameBytesMax {
                    buffer.moveWriterIndex(to: itemStart)
                    break
                }
                if let failure { self.server.metrics.failed(failure.code) }
                next += 1
            }
        }
        self.machine.itemsSent(payloadBytes, on: answer.stream)
        // Flushed early, a large answer shows in time whether the socket takes it.
        if self.outbound.readableBytes >= Self.outboundBytesMax { self.flush() }
        return next
    }

    /// Closes a stream whose request failed as a whole.
    func end(_ stream: UInt32, failure: Failure) {
        self.end(stream, with: End(failure: failure))
    }

    /// Closes a stream with its last frame, and grants what its request took.
    func end(_ stream: UInt32, with end: End) {
        if let answer = self.answers.removeValue(of: stream) {
            self.release(answer)
            let duration = self.eventLoop.now - answer.arrived
            self.server.metrics.requestEnded(answer.kind, nanoseconds: duration.nanoseconds)
        }
        switch self.machine.streamEnded(stream) {
        case .goOn(let credit):
            self.writeEnd(stream, end)
            self.writeCredit(credit)
        case .close:
            // The `goaway` that announced the drain went out before.
            self.writeEnd(stream, end)
            self.closeQuietly()
        case .ignore:
            break
        }
    }

    /// The client wants no more of a stream.
    ///
    /// What the engine is doing is answered as if nothing had been said; so is what was written. What was
    /// read and not yet sent is dropped, and an upload or a download ends.
    func cancel(_ stream: UInt32) {
        switch self.answers[stream]?.stage {
        case .waiting, .sending(.read, _), .sending(.found, _), .sending(.encoded, _),
            .sending(.subscriptions, _), .sending(.ended, _):
            self.end(stream, failure: Failure(StoreError.cancelled))
            self.executeWaiting()
        case .executing:
            self.endTransfer(stream, failure: Failure(StoreError.cancelled))
        case .sending(.written, _), nil:
            break
        }
    }

    // MARK: - Frames out

    func writeEnd(_ stream: UInt32, _ end: End) {
        guard self.context != nil else { return }
        if let failure = end.failure { self.server.metrics.failed(failure.code) }
        self.prepareOutbound()
        FrameEncoder.write(.end, stream: stream, into: &self.outbound) { end.encode(into: &$0) }
    }

    func writeCredit(_ bytes: UInt32) {
        guard bytes > 0 else { return }
        self.write(Frame(kind: .credit, payload: Credit(bytes: bytes).encoded()))
    }

    func write(_ frame: Frame) {
        guard self.context != nil else { return }
        self.prepareOutbound()
        FrameEncoder.write(frame, into: &self.outbound)
    }

    /// Sends what this tick wrote.
    func flush() {
        guard let context, self.outbound.readableBytes > 0 else { return }
        let frames = self.outbound
        self.outbound = ByteBuffer()
        context.writeAndFlush(self.wrapOutboundOut(frames), promise: self.whenOutboundTaken())
        self.loop.giveBack(frames)
        self.startSocketTimer()
    }

    func prepareOutbound() {
        guard self.outbound.capacity == 0, let context else { return }
        self.outbound = self.loop.takeBuffer(allocator: context.channel.allocator)
    }
}
