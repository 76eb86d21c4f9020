import NIOCore
import NIOPosix
import RecordModel
import RecordStore
import Transport
import WireProtocol

// From a request frame to the engine: the machine admits the stream, `Admission` the request, the account of held answers
// its execution.
extension ConnectionHandler {
    /// At this much nothing is written to the socket until it has taken some.
    static let socketBytesMax = 256 * 1_024
    /// So long after a request that is no transfer nothing else is thought to travel beside transfers.
    private static let quiet = TimeAmount.seconds(1)
    /// While the holder's clients leave too much unread: nobody knows when they will take it, so the time is no reservation.
    private static let tooMuchHeld = StoreError.overloaded(
        retryAfterMilliseconds: 2 * UInt32(Bounds.reservationMillisecondsMax)
    )

    /// A connection has one schema checked at a time, and its holder no more waiting than is left for the others.
    private static let tooManyChecks = StoreError.overloaded(retryAfterMilliseconds: 1_000)

    func requestReceived(_ frame: Frame) {
        let stream = frame.stream
        switch self.machine.requestReceived(stream, payloadBytes: frame.payload.readableBytes) {
        case .dispatch:
            self.start(stream, payload: frame.payload)
        case .refuse(let reason, let credit):
            self.writeEnd(stream, End(failure: Failure(reason)))
            self.writeCredit(credit)
        case .close(let reason):
            self.close(reason)
        case .ignore:
            break
        }
    }

    private func start(_ stream: UInt32, payload: ByteBuffer) {
        guard var user = self.user else { preconditionFailure("a request was dispatched before sign-in") }
        let bounds = self.bounds
        if self.server.store.load.mayReject {
            user.mark = RequestMark(payload, installation: user.installation)
            if let refusal = self.refusal(of: payload, by: user) {
                return self.end(stream, failure: Failure(refusal))
            }
        }
        let request: Request
        do throws(WireError) {
            request = try Request(decoding: payload, bounds: bounds)
        } catch {
            guard let code = error.refusal else { return self.close(error.closeReason, detail: error.field) }
            return self.end(stream, failure: Failure(refused: code, error, payload: payload, bounds: bounds))
        }
        let kind = OperationKind(request.operation)
        self.server.metrics.requestStarted(kind)
        if !kind.movesAssets { self.busyUntil = self.eventLoop.now + Self.quiet }
        user.deadlineMilliseconds = self.deadline(of: request)
        let admission = Admission(
            user: user,
            bounds: bounds,
            requestBytes: payload.readableBytes,
            deadlineMilliseconds: user.deadlineMilliseconds,
            nowMilliseconds: self.server.clock(),
            sealKey: self.server.sealKey,
            origin: ChangeOrigin(run: self.server.run, connection: self.number)
        )
        do throws(Failure) {
            let answer = Answer(
                stream: stream,
                kind: kind,
                arrived: self.keepalive.heardAt,
                request: try admission.admit(request),
                deadlineMilliseconds: admission.deadlineMilliseconds
            )
            self.answers[stream] = answer
            if case .uploadAssets = kind { self.machine.uploadOpened(stream) }
            guard let fault = self.fault(for: kind) else { return self.enqueue(answer) }
            self.apply(fault, to: answer)
        } catch {
            self.end(stream, failure: error)
        }
    }

    /// Why a change will be refused for want of room: seen before it is decoded, which would cost more than to refuse it.
    private func refusal(of payload: ByteBuffer, by user: ConnectionUser) -> StoreError? {
        let shape = RequestShape(payload)
        guard shape.isChange else { return nil }
        let requester = Requester(
            database: user.signIn.publicDatabase,
            scope: .public,
            environment: user.signIn.environment,
            userRecordName: user.signIn.userRecordName,
            mark: user.mark.value
        )
        return self.server.store.load.rejection(
            ofChangeBy: requester,
            records: shape.itemCount,
            bytes: payload.readableBytes
        )
    }

    /// Milliseconds since 1970; what the client wants, cut to the longest that is granted.
    private func deadline(of request: Request) -> Int64 {
        let longest = self.server.deadlineMillisecondsMax
        let wanted = request.deadlineMilliseconds == 0 ? longest : Int64(request.deadlineMilliseconds)
        return self.server.clock() + min(wanted, longest)
    }

    // MARK: - Faults

    private func fault(for kind: OperationKind) -> Fault? {
        guard let faults = self.server.faults else { return nil }
        return faults.fault(for: kind, userRecordName: self.user?.signIn.userRecordName)
    }

    private func apply(_ fault: Fault, to answer: Answer) {
        switch fault {
        case .refuse(let failure):
            self.end(answer.stream, failure: failure)
        case .refuseItem(let number, let failure):
            self.refuse(.init(number: number, failure: failure), of: answer)
        case .dropConnectionBeforeExecution:
            self.closeQuietly()
        case .dropConnectionAfterCommit:
            answer.breaksConnection = true
            self.enqueue(answer)
        case .delay(let duration):
            guard case .waiting(let request) = answer.stage else { return }
            answer.stage = .delayed(request)
            self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(duration)) {
                self.delayPassed(answer)
            }
        case .hold(let gate):
            guard case .waiting(let request) = answer.stage else { return }
            answer.stage = .delayed(request)
            let back = LoopReturn(self)
            gate.whenOpen { [stream = answer.stream] in
                back { connection in connection.answers[stream].map { connection.delayPassed($0) } }
            }
        }
    }

    /// Executes the request without one item, which fails; when it is atomic, all others fail with it.
    private func refuse(_ item: FaultCounter.RefusedItem, of answer: Answer) {
        guard case .waiting(let request) = answer.stage, (0..<request.itemCount).contains(item.number) else {
            return self.enqueue(answer)
        }
        guard request.isAtomic || request.itemCount == 1 else {
            answer.itemToRefuse = item
            return self.enqueue(answer)
        }
        answer.refuse(item.number, item.failure)
        let peers = Array(
            repeating: WriteOutcome.failed(.atomicPeer(index: item.number)),
            count: request.itemCount - 1
        )
        answer.stage = .sending(.written(peers), next: 0)
        self.send(answer)
    }

    /// The request as faults leave it.
    private func remainder(of request: AdmittedRequest, for answer: Answer) -> AdmittedRequest {
        var item = answer.itemToRefuse
        if case .write(let write) = request {
            guard let faults = self.server.faults else { return request }
            item = faults.executes(write.requestID, without: item)
        }
        guard let item else { return request }
        answer.refuse(item.number, item.failure)
        return request.removingItem(item.number)
    }

    private func delayPassed(_ answer: Answer) {
        guard case .delayed(let request) = answer.stage, self.answers[answer.stream] != nil else { return }
        answer.stage = .waiting(request)
        self.enqueue(answer)
        self.flush()
    }

    // MARK: - Execution

    /// Executes the request of an answer, or makes it wait until answers that are held are taken.
    func enqueue(_ answer: Answer) {
        self.waiting.append(answer.stream)
        self.executeWaiting()
    }

    /// Executes what there is room for.
    ///
    /// Not entered again by replies that come at once: the loop sees what they did.
    func executeWaiting() {
        guard !self.isExecutingWaiting else { return }
        self.isExecutingWaiting = true
        defer { self.isExecutingWaiting = false }
        while !self.waiting.isEmpty, self.heldBytes < self.server.configuration.memory.answersHeldBytesMax {
            let stream = self.waiting.removeFirst()
            guard let answer = self.answers[stream], case .waiting(let request) = answer.stage else {
                continue
            }
            if self.server.clock() >= answer.deadlineMilliseconds {
                self.end(stream, failure: Failure(StoreError.deadlinePassed))
            } else {
                self.execute(request, for: answer)
            }
        }
    }

    private func execute(_ request: AdmittedRequest, for answer: Answer) {
        guard self.account.answers.hasRoom(for: self.server.answerReservedBytes) else {
            return self.end(answer.stream, failure: Failure(Self.tooMuchHeld))
        }
        answer.stage = .executing
        let request = self.remainder(of: request, for: answer)
        let tokens = request.shareTokens
        if let tokens, let failure = self.server.refusal(of: tokens) {
            return self.end(answer.stream, failure: failure)
        }
        if request.isReading { self.reserve(self.server.answerReservedBytes, for: answer) }
        self.ask(request, counting: tokens, for: answer)
        self.countReservation(of: answer)
    }

    private func ask(_ request: AdmittedRequest, counting tokens: ShareTokens?, for answer: Answer) {
        let server = self.server
        let stream = answer.stream
        let connection = NIOLoopBound(self, eventLoop: self.eventLoop)
        let mailbox = self.loop.mailbox
        let whenRead: @Sendable (Result<[ReadOutcome], StoreError>) -> Void = { result in
            mailbox.deliver(
                EngineReply(connection: connection, stream: stream, result: result.map { .read($0) })
            )
        }
        switch request {
        case .write(let write):
            server.store.write(write) { result in
                if let tokens { server.count(result, of: tokens) }
                mailbox.deliver(
                    EngineReply(connection: connection, stream: stream, result: result.map { .written($0) })
                )
            }
        case .fetchRecords(let fetch, let requester):
            let keys = fetch.desiredKeys
            server.store.fetchRecords(fetch.ids, desiredKeys: keys, for: requester, reply: whenRead)
        case .fetchZones(let selection, let requester):
            server.store.fetchZones(selection, for: requester, reply: whenRead)
        case .fetchShareMetadata(let fetch, let requester):
            let container = self.user?.container ?? ""
            server.store.fetchShareMetadata(fetch, container: container, for: requester) { result in
                if let tokens { server.count(result, of: tokens) }
                whenRead(result)
            }
        case .fetchShareParticipants(let fetch, let requester):
            server.store.fetchShareParticipants(fetch.lookups, for: requester, reply: whenRead)
        case .fetchSubscriptions(let selection, let requester):
            server.store.subscriptions.fetch(selection, for: requester) { result in
                let outcomes = result.map { Outcomes.subscriptions($0) }
                mailbox.deliver(EngineReply(connection: connection, stream: stream, result: outcomes))
            }
        case .query(let query):
            let (now, container) = (server.clock(), self.user?.container ?? "")
            server.store.query(query.read, for: query.requester) { result in
                let found = result.map { server.outcomes($0, to: query, in: container, nowMilliseconds: now) }
                mailbox.deliver(EngineReply(connection: connection, stream: stream, result: found))
            }
        case .feed(let feed):
            feed.ask(server.store, key: server.sealKey) { result in
                mailbox.deliver(EngineReply(connection: connection, stream: stream, result: result))
            }
        case .listen(let identity):
            self.listen(as: identity, on: stream)
        case .upload(let upload):
            self.start(upload, for: answer)
        case .download(let download):
            self.start(download, for: answer)
        case .checkSchema(let check):
            let schemas = server.store.schemas
            let isAdmitted =
                !self.isCheckingSchema
                && server.schemaChecks.submit(of: self.account.holder, cost: check.schema.utf8.count) {
                    let outcomes = Outcomes.ended(check.end(schemas: schemas))
                    mailbox.deliver(
                        EngineReply(connection: connection, stream: stream, result: .success(outcomes))
                    )
                }
            guard isAdmitted else { return self.end(stream, failure: Failure(Self.tooManyChecks)) }
            self.isCheckingSchema = true
        }
    }

    /// The engine answered.
    ///
    /// Called on the event loop, within the call of the engine or later.
    func replied(_ result: Result<Outcomes, StoreError>, on stream: UInt32) {
        guard let answer = self.answers[stream] else { return }
        guard !answer.breaksConnection else { return self.closeQuietly() }
        self.reserve(0, for: answer)
        if answer.kind == .checkSchema { self.isCheckingSchema = false }
        switch result {
        case .failure(let error):
            self.end(stream, failure: Failure(error))
        case .success(let outcomes):
            answer.stage = .sending(outcomes, next: 0)
            self.send(answer)
        }
        self.executeWaiting()
    }

    /// Changes the room that is set aside for an answer.
    private func reserve(_ bytes: Int, for answer: Answer) {
        let change = bytes - answer.reservedBytes
        guard change != 0 else { return }
        answer.reservedBytes = bytes
        self.heldBytes += change
        if answer.isReservationCounted { self.account.answers.add(change) }
    }

    /// Has the holder pay for the room that is set aside.
    ///
    /// Called when the engine has been asked: most fetches are answered before that returns, and touch no sum that threads share.
    private func countReservation(of answer: Answer) {
        guard answer.reservedBytes > 0, !answer.isReservationCounted else { return }
        answer.isReservationCounted = true
        self.account.answers.add(answer.reservedBytes)
    }

    /// Changes what an answer counts for, in the connection's sum and the holder's.
    func hold(_ bytes: Int, for answer: Answer) {
        let change = bytes - answer.heldBytes
        guard change != 0 else { return }
        answer.heldBytes = bytes
        self.heldBytes += change
        self.account.answers.add(change)
        if change > 0 { self.server.makeRoomForAnswers() }
    }

    /// Gives back all that an answer counts for.
    func release(_ answer: Answer) {
        self.reserve(0, for: answer)
        self.hold(0, for: answer)
    }

    /// What the socket has not taken counts like answers.
    func countSocket(isFull: Bool) {
        let bytes = isFull ? Self.socketBytesMax : 0
        self.account.answers.add(bytes - self.socketBytes)
        self.socketBytes = bytes
    }
}
