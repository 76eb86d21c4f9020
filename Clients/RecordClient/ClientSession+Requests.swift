import NIOCore
import RecordModel
import WireProtocol

/// Sending requests, and what comes back.
extension ClientSession {
    /// Sends waiting requests, oldest first, as far as the connection takes them.
    func sendWaiting(now: NIODeadline) {
        while case .open(let link) = self.link, let request = self.requests.nextWaiting() {
            switch link.connection.requestReady() {
            case .open(let stream): self.send(request, on: stream, of: link, now: now)
            case .wait: return
            case .refuse:
                // The numbers of its streams have run out.
                link.connection.retire()
                return
            }
        }
    }

    private func send(_ request: PendingRequest, on stream: UInt32, of link: OpenLink, now: NIODeadline) {
        if case .download(let download) = request.transfer, download.isComplete {
            self.requests.leaveQueue(request)
            self.transfers.downloadAnswered(request, download, End())
            return
        }
        if let sentAt = request.sentAt, request.operation.isMutating,
            now - sentAt >= .seconds(Int64(link.welcome.limits.requestIDRetentionSeconds))
        {
            // The server may have forgotten the request ID, and would execute the request again or
            // refuse it.
            self.end(request.number, .failure(.responseLost))
            return
        }
        let message = Request(
            requestID: request.requestID ?? self.requestID(for: request.operation, link: link, now: now),
            deadlineMilliseconds: request.deadlineMilliseconds(limits: link.welcome.limits, now: now),
            operation: request.operation
        )
        let payload = message.encoded()
        if let failure = link.welcome.limits.refusal(
            of: request.operation,
            payloadBytes: payload.readableBytes
        ) {
            self.end(request.number, .failure(.refused(failure)))
            return
        }
        let key = StreamKey(connection: link.connection.number, stream: stream)
        request.responseBytesMax = link.welcome.limits.responseBytesMax(of: request.operation)
        self.requests.sent(request, on: key, requestID: message.requestID, now: now)
        let silenceCheck = link.connection.send(
            payload,
            on: stream,
            transfer: request.transferStream,
            now: now
        )
        if let silenceCheck { self.wake(by: silenceCheck) }
        self.transfers.requestSent(request, on: key, now: now)
        if request.number == Self.listenNumber { link.connection.listenSent(on: stream) }
    }

    /// An ID with the time of the server, which judges by its own clock whether an ID is too old.
    private func requestID(for operation: Operation, link: OpenLink, now: NIODeadline) -> RequestID? {
        guard operation.isMutating else { return nil }
        let sinceWelcome = (now - link.openedAt).nanoseconds / 1_000_000
        return RequestID(
            milliseconds: link.welcome.serverTimeMilliseconds &+ sinceWelcome,
            using: &self.random
        )
    }

    /// - Throws: `Violation` if the request has no such items, or not as many.
    func itemsReceived(_ items: [Item], payloadBytes: Int, on key: StreamKey) throws(Violation) {
        let now = self.eventLoop.now
        guard let request = self.requests.request(on: key) else { return }
        request.silenceDeadline = now + request.requestTimeout
        try request.deliver(items, payloadBytes: payloadBytes)
    }

    /// Something came on a request's stream, so the server is not silent.
    func noteActivity(on key: StreamKey) {
        guard let request = self.requests.request(on: key) else { return }
        request.silenceDeadline = self.eventLoop.now + request.requestTimeout
    }

    func streamEnded(_ end: End, on key: StreamKey, isDraining: Bool) {
        if self.requests.request(on: key)?.number == Self.listenNumber {
            _ = self.requests.remove(on: key)
            return self.listenAnswered(end, on: key.connection)
        }
        guard let failure = end.failure else {
            if let request = self.requests.request(on: key), case .download(let download) = request.transfer {
                self.transfers.downloadAnswered(request, download, end)
            } else {
                self.requests.remove(on: key)?.end(.success(end))
            }
            return
        }
        let mayMove = isDraining && failure.code == .serviceUnavailable && failure.retry == .now
        if mayMove, self.requests.request(on: key)?.isUntouched == true {
            self.requests.sendAgain(on: key)
        } else if let pause = failure.pauseForRoom, self.requests.request(on: key)?.mayHaveTakenEffect == true
        {
            // The request may have been executed before its connection broke. Its ID will tell
            // later.
            self.putOff(key, for: pause)
        } else {
            self.requests.remove(on: key)?.end(.failure(.refused(failure)))
        }
    }

    private func putOff(_ key: StreamKey, for pause: TimeAmount) {
        guard let request = self.requests.request(on: key) else { return }
        let now = self.eventLoop.now
        request.silenceDeadline = now + request.requestTimeout
        // A server's zero would be a busy loop.
        let pause = max(pause, TimeAmount(self.configuration.backoffMin))
        self.requests.sendLater(on: key, at: now + pause)
        self.wake(by: now + pause)
    }

    /// All frames that had arrived were read; sends what they made room for.
    func readCompleted() {
        self.advance(now: self.eventLoop.now)
        self.flush()
    }

    /// Tells the server that the response is not wanted any more.
    func cancelStream(of request: PendingRequest) {
        guard case .sent(let key) = request.phase else { return }
        self.connection(key.connection)?.cancel(stream: key.stream)
    }

    func flush() {
        if case .open(let link) = self.link { link.connection.flush() }
        for connection in self.draining.values { connection.flush() }
    }

    func connection(_ number: Int) -> ClientConnectionHandler? {
        if case .open(let link) = self.link, link.connection.number == number { return link.connection }
        return self.draining[number]
    }

    func end(_ number: UInt64, _ result: Result<End, ClientError>) {
        self.requests.remove(number)?.end(result)
    }
}

extension Failure {
    /// When it is of use to ask again, if all that is wrong is that the server has too much to do.
    fileprivate var pauseForRoom: TimeAmount? {
        guard self.code == .requestRateLimited || self.code == .zoneBusy,
            case .after(let milliseconds) = self.retry
        else { return nil }
        return .milliseconds(Int64(min(milliseconds, ClientBounds.retryAfterMillisecondsMax)))
    }
}

extension PendingRequest {
    /// The rest of the request's time, at most the server's longest.
    fileprivate func deadlineMilliseconds(limits: Limits, now: NIODeadline) -> UInt32 {
        let left = (self.resourceDeadline - now).nanoseconds / 1_000_000
        // 0 would be the server's longest.
        return min(UInt32(clamping: max(1, left)), limits.deadlineMillisecondsMax)
    }
}

extension Limits {
    /// Most bytes of all `items` of a response: one item of any size, or as many as there may be.
    fileprivate func responseBytesMax(of operation: Operation) -> Int {
        Int(max(self.responseBytesMax, self.frameBytesMax))
            + operation.itemsMax * ClientBounds.itemFramingBytesMax
    }

    /// The response of the server to a request that is too large, found without sending its bytes.
    fileprivate func refusal(of operation: Operation, payloadBytes: Int) -> Failure? {
        if let count = operation.itemCount, count > self.requestItemsMax {
            return .tooManyItems(count, itemsMax: Int(self.requestItemsMax))
        }
        if let failure = self.refusalOfAsset(in: operation) { return failure }
        let bytesMax = min(self.requestBytesMax, self.frameBytesMax)
        guard payloadBytes > bytesMax else { return nil }
        return self.refusalOfRecord(in: operation)
            ?? .requestTooLarge(bytes: payloadBytes, bytesMax: Int(bytesMax))
    }

    /// An older server does not name the largest size of an asset.
    private func refusalOfAsset(in operation: Operation) -> Failure? {
        guard self.assetBytesMax > 0, case .uploadAssets(let upload) = operation,
            let index = upload.assets.firstIndex(where: { $0.size > self.assetBytesMax })
        else { return nil }
        return .assetTooLarge(index: index, bytes: upload.assets[index].size)
    }

    /// The failure of a request that is too large because one of its records is.
    private func refusalOfRecord(in operation: Operation) -> Failure? {
        guard case .modifyRecords(let modify) = operation,
            let save = modify.saves.first(where: { $0.changes.bytes.count > self.recordBytesMax })
        else { return nil }
        return .recordTooLarge(
            save.id.recordName,
            bytes: save.changes.bytes.count,
            bytesMax: Int(self.recordBytesMax)
        )
    }
}
