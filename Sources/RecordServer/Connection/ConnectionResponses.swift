import Logging
import NIOCore
import RecordModel
import StorageContract
import Transport
import WireProtocol

/// The responses of a connection, from each request to its last frame.
///
/// Outcomes are sent in frames while the windows and the socket have room; the rest follows later.
/// Blocked streams are served round robin, one frame each.
final class ConnectionResponses {
    /// An `items` frame ends before the item that would exceed this size; a larger item gets a
    /// frame of its own.
    static let itemsFrameBytesMax = 64 * 1_024

    private enum Step {
        case frameSent
        case blocked
        case ended
    }

    /// The state of a cancelled response.
    enum OnCancel {
        /// It has ended, which may make room for other requests.
        case ended
        /// Its request is being executed: a transfer ends, any other request continues.
        case executing
        /// It continues as if it had not been cancelled.
        case goesOn
    }

    private let connection: Connection
    private var table = StreamTable<Response>()
    /// Streams with outcomes that wait for credit or for the socket.
    private var blocked: [UInt32] = []
    private var room = ResponseRoom()
    /// Runs while responses wait.
    ///
    /// Separate from the socket's timer: a socket that takes download bytes does not help a
    /// response that waits for credit.
    private var creditTimer = SlowReaderTimer()

    init(_ connection: Connection) {
        self.connection = connection
    }

    subscript(stream: UInt32) -> Response? { self.table[stream] }

    /// Bytes of held responses, and of room reserved for those that the engine is reading.
    var heldBytes: Int { self.room.heldBytes }

    func insert(_ response: Response) { self.table[response.stream] = response }

    /// Releases everything after the connection has ended.
    func removeAll() {
        self.creditTimer.stop()
        let account = self.connection.account
        for response in self.table.values { self.room.release(&response.room, in: account) }
        self.room.countSocket(isFull: false, in: account)
        self.table = StreamTable()
        self.blocked = []
    }
}

// MARK: - Room

extension ConnectionResponses {
    /// Reserves room for a response while the engine reads, unless it has replied at once.
    ///
    /// Called after the call to the engine: most fetches are answered before it returns, and touch
    /// no sum that threads share.
    func reserve(_ bytes: Int, for response: Response) {
        guard case .executing = response.stage, self.table[response.stream] === response else { return }
        self.room.reserve(bytes, for: &response.room, in: self.connection.account)
    }

    /// The engine has replied.
    func endReservation(of response: Response) {
        guard response.room.reservedBytes > 0 else { return }
        self.room.reserve(0, for: &response.room, in: self.connection.account)
    }

    /// Counts bytes that the socket has not taken like responses.
    func countSocket(isFull: Bool) {
        self.room.countSocket(isFull: isFull, in: self.connection.account)
    }

    /// Counts a response once it must wait; a response that leaves in the tick of its request is
    /// not counted.
    private func hold(_ outcomes: Outcomes, for response: Response) {
        guard response.room.heldBytes == 0 else { return }
        if self.room.hold(outcomes.heldBytes, for: &response.room, in: self.connection.account) {
            self.connection.shared.loops.makeRoomForResponses()
        }
    }

    /// Ends a connection with responses that wait for the client, because other holders need the room.
    func endIfBlocked() {
        guard !self.blocked.isEmpty else { return }
        self.connection.close(.slowReader, detail: "room for others")
    }
}

// MARK: - Outcomes to frames

extension ConnectionResponses {
    /// Sends a response as far as the windows and the socket allow.
    ///
    /// Others that wait for the same windows come first.
    func send(_ outcomes: Outcomes, on response: Response) {
        response.stage = .sending(outcomes, next: 0)
        for code in outcomes.encodedFailures { self.connection.shared.metrics.failed(code) }
        guard self.blocked.isEmpty else {
            self.blocked.append(response.stream)
            return self.resume()
        }
        while true {
            switch self.sendFrame(of: response) {
            case .frameSent: continue
            case .ended: return
            case .blocked:
                self.blocked.append(response.stream)
                return self.creditTimer.start(ending: self.connection)
            }
        }
    }

    /// Lets blocked streams send one frame each in turn, until none can.
    ///
    /// Afterwards there may be room for further requests.
    func resume() {
        var turn = self.blocked
        self.blocked = []
        while !turn.isEmpty, self.connection.isOpen {
            var next: [UInt32] = []
            for stream in turn {
                guard let response = self.table[stream] else { continue }
                switch self.sendFrame(of: response) {
                case .frameSent: next.append(stream)
                case .blocked: self.blocked.append(stream)
                case .ended: break
                }
            }
            turn = next
        }
        if self.blocked.isEmpty {
            self.creditTimer.stop()
        } else {
            self.creditTimer.start(ending: self.connection)
        }
    }

    private func sendFrame(of response: Response) -> Step {
        guard case .sending(let outcomes, let next) = response.stage else { return .ended }
        guard next < outcomes.count else {
            // Only a list of missing schema elements is large: it waits until the socket takes
            // bytes.
            if case .ended = outcomes, self.connection.isOpen, !self.connection.isWritable {
                self.hold(outcomes, for: response)
                return .blocked
            }
            self.end(response.stream, with: outcomes.end)
            return .ended
        }
        guard self.connection.isWritable, self.connection.machine.maySendItems(on: response.stream) else {
            self.hold(outcomes, for: response)
            return .blocked
        }
        let sent = self.writeItems(of: response, outcomes: outcomes, from: next)
        self.creditTimer.stop()
        guard sent == outcomes.count else {
            response.stage = .sending(outcomes, next: sent)
            return .frameSent
        }
        self.end(response.stream, with: outcomes.end)
        return .ended
    }

    /// Writes one `items` frame.
    ///
    /// - Returns: The index of the first outcome that did not fit.
    private func writeItems(of response: Response, outcomes: Outcomes, from first: Int) -> Int {
        var next = first
        let payloadBytes = self.connection.write(.items, stream: response.stream) { buffer in
            let start = buffer.writerIndex
            while next < outcomes.count {
                let itemStart = buffer.writerIndex
                let failure = outcomes.append(at: next, number: UInt32(next), toItems: &buffer)
                if itemStart > start, buffer.writerIndex - start > Self.itemsFrameBytesMax {
                    buffer.moveWriterIndex(to: itemStart)
                    break
                }
                if let failure { self.connection.shared.metrics.failed(failure.code) }
                next += 1
            }
        }
        self.connection.machine.itemsSent(payloadBytes, on: response.stream)
        self.connection.flushIfLarge()
        return next
    }
}

// MARK: - Ends

extension ConnectionResponses {
    /// Closes a stream after its request failed as a whole.
    func end(_ stream: UInt32, failure: Failure) {
        self.end(stream, with: End(failure: failure))
    }

    /// Logs that a request failed as a whole.
    ///
    /// At debug, since most failures are an ordinary part of sync and are reported to clients.
    func tell(of failure: Failure, _ label: RequestLabel) {
        let shared = self.connection.shared
        func metadata() -> Logger.Metadata {
            label.metadata(
                of: self.connection.label,
                [LogKeys.code: "\(ErrorCode.names[failure.code] ?? "\(failure.code.rawValue)")"]
            )
        }
        guard failure.code == .internalError else {
            return shared.logger.debug("a request failed", metadata: metadata())
        }
        shared.faults.tell("a request failed", about: label.operation?.rawValue ?? "", metadata: metadata())
    }

    /// Closes a stream with its last frame, and grants credit for its request.
    func end(_ stream: UInt32, with end: End) {
        if let response = self.table.removeValue(of: stream) {
            if let failure = end.failure { self.tell(of: failure, response.label) }
            if !response.room.isEmpty {
                self.room.release(&response.room, in: self.connection.account)
            }
            let duration = self.connection.eventLoop.now - response.arrived
            self.connection.shared.metrics.requestEnded(response.kind, nanoseconds: duration.nanoseconds)
        }
        switch self.connection.machine.streamEnded(stream) {
        case .goOn(let credit):
            self.connection.write(end, on: stream)
            self.connection.writeCredit(credit)
        case .close:
            // The `goaway` that announced the drain was sent before.
            self.connection.write(end, on: stream)
            self.connection.closeQuietly()
        case .ignore:
            break
        }
    }

    /// Closes a stream after its request was executed, unless a gate breaks the connection instead.
    func finish(_ stream: UInt32, with end: End) {
        guard !self.breaksConnection(insteadOf: stream) else { return self.connection.closeQuietly() }
        self.end(stream, with: end)
    }

    /// Cancels a stream for the client.
    ///
    /// Requests in the engine and frames already written are not affected. Items that were read and
    /// not yet sent are dropped.
    func cancelled(_ stream: UInt32) -> OnCancel {
        switch self.table[stream]?.stage {
        case .waiting, .sending(.read, _), .sending(.encoded, _), .sending(.subscriptions, _),
            .sending(.ended, _):
            self.end(stream, failure: Failure(StoreError.cancelled))
            return .ended
        case .executing: return .executing
        case .sending(.written, _), nil: return .goesOn
        }
    }

    /// The stream's identity for a gate.
    func gatedID(of stream: UInt32) -> GatedRequest.ID {
        GatedRequest.ID(connection: self.connection.number, stream: stream)
    }

    /// Whether a gate breaks the connection instead of sending a response.
    func breaksConnection(insteadOf stream: UInt32) -> Bool {
        self.connection.shared.gate?.breaksConnection(insteadOf: self.gatedID(of: stream)) ?? false
    }
}
