import NIOCore
import Transport
import WireProtocol

// From frames to the state machine, and from its actions to the parts of the connection.
extension ConnectionHandler {
    func frameReceived(_ frame: Frame) {
        guard self.connection.isOpen else { return }
        do throws(WireError) {
            try self.dispatch(frame)
        } catch {
            self.connection.close(error.closeReason, detail: error.field)
        }
    }

    private func dispatch(_ frame: Frame) throws(WireError) {
        switch frame.kind {
        case .request:
            self.requestReceived(frame)
        case .credit:
            let credit = try Credit(decoding: frame.payload)
            self.creditReceived(credit, on: frame.stream)
        case .cancel:
            _ = try Cancel(decoding: frame.payload)
            self.cancelReceived(frame.stream)
        case .assetData:
            let data = try AssetData(decoding: frame.payload)
            self.assetDataReceived(data, on: frame.stream)
        case .hello, .proof, .ping, .pong, .goaway, .notificationAck:
            guard frame.stream == 0 else { return self.connection.close(.streamInvalid) }
            try self.dispatchConnectionFrame(frame)
        default:
            // Kinds from 128 on are reserved for later versions, and are ignored.
            guard frame.kind.rawValue >= 128 else { return self.connection.close(.frameKindUnexpected) }
            self.controlFrameReceived {}
        }
    }

    private func dispatchConnectionFrame(_ frame: Frame) throws(WireError) {
        switch frame.kind {
        case .hello:
            self.helloReceived(try Hello(decoding: frame.payload))
        case .proof:
            self.proofReceived(try Proof(decoding: frame.payload))
        case .ping:
            let ping = try Ping(decoding: frame.payload)
            self.controlFrameReceived {
                self.connection.write(Frame(kind: .pong, payload: ping.encoded()))
            }
        case .notificationAck:
            self.acknowledgementReceived(try NotificationAck(decoding: frame.payload))
        case .goaway:
            let goaway = try GoAway(decoding: frame.payload)
            let action = self.connection.machine.goAwayReceived(goaway.reason)
            if action == .close { self.connection.closeQuietly() }
        default:
            // A pong only shows that the peer is alive.
            _ = try Ping(decoding: frame.payload)
            if !self.keepalive.pongReceived() { self.controlFrameReceived {} }
        }
    }

    private func requestReceived(_ frame: Frame) {
        let (stream, payload) = (frame.stream, frame.payload)
        switch self.connection.machine.requestReceived(stream, payloadBytes: payload.readableBytes) {
        case .dispatch:
            guard let requests else { preconditionFailure("a request was dispatched before sign-in") }
            requests.start(stream, payload: payload, arrived: self.keepalive.receivedAt)
        case .refuse(let reason, let credit):
            self.connection.write(End(failure: Failure(reason)), on: stream)
            self.connection.writeCredit(credit)
        case .close(let reason): self.connection.close(reason)
        case .ignore: break
        }
    }

    private func controlFrameReceived(_ react: () -> Void) {
        switch self.connection.machine.controlFrameReceived(now: self.connection.eventLoop.now) {
        case .accept: react()
        case .close(let reason): self.connection.close(reason)
        case .ignore: break
        }
    }

    private func cancelReceived(_ stream: UInt32) {
        switch self.connection.machine.cancelReceived(stream, now: self.connection.eventLoop.now) {
        case .cancel: self.requests?.cancelled(stream)
        case .close(let reason): self.connection.close(reason)
        case .ignore: break
        }
    }

    private func creditReceived(_ credit: Credit, on stream: UInt32) {
        let now = self.connection.eventLoop.now
        switch self.connection.machine.creditReceived(stream, bytes: credit.bytes, now: now) {
        case .resume:
            self.requests?.resumeResponses()
            self.requests?.downloads?.send()
        case .close(let reason): self.connection.close(reason)
        case .ignore: break
        }
    }

    private func assetDataReceived(_ data: AssetData, on stream: UInt32) {
        let payloadBytes = AssetData.headerBytes + data.bytes.readableBytes
        switch self.connection.machine.assetDataReceived(stream, payloadBytes: payloadBytes) {
        case .accept: self.requests?.uploads?.received(data, payloadBytes: payloadBytes, on: stream)
        case .close(let reason): self.connection.close(reason, detail: "asset_data")
        case .ignore: break
        }
    }

    private func acknowledgementReceived(_ acknowledgement: NotificationAck) {
        let action: ListenerStateMachine.OnAcknowledgement
        if let listening = self.requests?.listening {
            action = listening.acknowledged(acknowledgement.number)
        } else {
            var deaf = ListenerStateMachine()
            action = self.connection.machine.acknowledgementReceived(
                acknowledgement.number,
                by: &deaf,
                now: self.connection.eventLoop.now
            )
        }
        switch action {
        case .acknowledge(let acknowledgements): self.requests?.listening?.store(acknowledgements)
        case .close(let reason): self.connection.close(reason, detail: "notification_ack")
        case .ignore: break
        }
    }
}
