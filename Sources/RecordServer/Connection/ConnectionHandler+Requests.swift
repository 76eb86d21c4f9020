import NIOCore
import NIOPosix
import RecordModel
import RecordStore
import Transport
import WireProtocol

// From a request frame to the engine: the machine admits the stream, and `RequestPipeline` says what comes after what.
extension ConnectionHandler {
    /// At this much nothing is written to the socket until it has taken some.
    static let socketBytesMax = 256 * 1_024
    /// So long after a request that is no transfer nothing else is thought to travel beside transfers.
    private static let quiet = TimeAmount.seconds(1)
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

    private var pipeline: RequestPipeline {
        RequestPipeline(server: self.server, account: self.account)
    }

    private func start(_ stream: UInt32, payload: ByteBuffer) {
        guard let user = self.user else { preconditionFailure("a request was dispatched before sign-in") }
        let admitted: RequestPipeline.Admitted
        do throws(RequestPipeline.Refusal) {
            admitted = try self.pipeline.admit(
                payload,
                of: user,
                bounds: self.bounds,
                origin: ChangeOrigin(run: self.server.run, connection: self.number)
            ) { kind in
                self.server.metrics.requestStarted(kind)
                if !kind.movesAssets { self.busyUntil = self.eventLoop.now + Self.quiet }
            }
        } catch {
            switch error {
            case .end(let failure): return self.end(stream, failure: failure)
            case .close(let reason, let field): return self.close(reason, detail: field)
            }
        }
        let answer = Answer(
            stream: stream,
            kind: admitted.kind,
            arrived: self.keepalive.heardAt,
            request: admitted.request,
            deadlineMilliseconds: admitted.deadlineMilliseconds
        )
        self.answers[stream] = answer
        if case .uploadAssets = admitted.kind { self.machine.uploadOpened(stream) }
        guard let gate = self.server.gate else { return self.enqueue(answer) }
        self.pass(answer, admitted.request, gate)
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
            self.execute(request, for: answer)
        }
    }

    private func execute(_ request: AdmittedRequest, for answer: Answer) {
        let tokens: ShareTokens?
        do throws(Failure) {
            tokens = try self.pipeline.begin(request, deadlineMilliseconds: answer.deadlineMilliseconds)
        } catch {
            return self.end(answer.stream, failure: error)
        }
        answer.stage = .executing
        if request.isReading { self.reserve(self.server.answerReservedBytes, for: answer) }
        self.ask(request, counting: tokens, for: answer)
        self.countReservation(of: answer)
    }

    private func ask(_ request: AdmittedRequest, counting tokens: ShareTokens?, for answer: Answer) {
        let store = self.server.store
        let back = EngineReturn(self, stream: answer.stream, counting: tokens)
        let container = self.user?.container ?? ""
        switch request {
        case .write(let write):
            store.write(write, reply: back.reply { .written($0) })
        case .fetchRecords(let fetch, let requester):
            let keys = fetch.desiredKeys
            store.fetchRecords(fetch.ids, desiredKeys: keys, for: requester, reply: back.reply { .read($0) })
        case .fetchZones(let selection, let requester):
            store.fetchZones(selection, for: requester, reply: back.reply { .read($0) })
        case .fetchShareMetadata(let fetch, let requester):
            let reply = back.reply { Outcomes.read($0) }
            store.fetchShareMetadata(fetch, container: container, for: requester, reply: reply)
        case .fetchShareParticipants(let fetch, let requester):
            let reply = back.reply { Outcomes.read($0) }
            store.fetchShareParticipants(fetch.lookups, for: requester, reply: reply)
        case .fetchSubscriptions(let selection, let requester):
            let reply = back.reply { Outcomes.subscriptions($0) }
            store.fetchSubscriptions(selection, for: requester, reply: reply)
        case .query(let query):
            let (server, now) = (self.server, self.server.clock())
            let reply = back.reply {
                server.outcomes($0, to: query, in: container, nowMilliseconds: now)
            }
            store.query(query.read, for: query.requester, reply: reply)
        case .feed(let feed):
            feed.ask(store, key: self.server.sealKey, reply: back.reply { $0 })
        case .checkSchema(let check):
            self.submit(check, for: answer, reply: back.reply { $0 })
        case .listen(let identity):
            self.listen(as: identity, on: answer.stream)
        case .upload(let upload):
            self.start(upload, for: answer)
        case .download(let download):
            self.start(download, for: answer)
        }
    }

    private func submit(
        _ check: SchemaCheck,
        for answer: Answer,
        reply: @escaping @Sendable (Result<Outcomes, StoreError>) -> Void
    ) {
        let schemas = self.server.store.schemas
        let isAdmitted =
            !self.isCheckingSchema
            && self.server.schemaChecks.submit(of: self.account.holder, cost: check.schema.utf8.count) {
                reply(.success(.ended(check.end(schemas: schemas))))
            }
        guard isAdmitted else { return self.end(answer.stream, failure: Failure(Self.tooManyChecks)) }
        self.isCheckingSchema = true
    }

    /// The engine answered.
    ///
    /// Called on the event loop, within the call of the engine or later.
    func replied(_ result: Result<Outcomes, StoreError>, on stream: UInt32) {
        guard let answer = self.answers[stream] else { return }
        guard !self.breaksConnection(insteadOf: stream) else { return self.closeQuietly() }
        self.reserve(0, for: answer)
        if answer.kind == .checkSchema { self.isCheckingSchema = false }
        switch result {
        case .failure(let error):
            self.end(stream, failure: Failure(error))
        case .success(let outcomes):
            answer.stage = .sending(self.passing(outcomes, of: stream), next: 0)
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
