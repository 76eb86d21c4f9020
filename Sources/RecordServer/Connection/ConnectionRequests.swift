import Logging
import NIOCore
import RecordModel
import RecordStore
import StorageContract
import Transport
import WireProtocol

/// The requests of a connection, from their bytes to their execution.
///
/// The state machine has admitted their streams; `RequestPipeline` defines the order of the steps.
/// The engine executes most requests. Listening, uploads and downloads are parts of the connection,
/// each made at its first request.
final class ConnectionRequests {
    /// How long after a request that is no transfer the connection counts as busy with other
    /// requests.
    private static let quiet = TimeAmount.seconds(1)
    /// A connection may have one schema check at a time, and its holder no more queued than is left
    /// for the others.
    private static let tooManyChecks = StoreError.overloaded(retryAfterMilliseconds: 1_000)

    private let connection: Connection
    private let server: ServerContext
    private let responses: ConnectionResponses
    private let user: ConnectionUser
    /// The bounds for requests of this connection.
    private let bounds: Bounds
    private let pipeline: RequestPipeline
    private var queue = RequestQueue()
    private var isCheckingSchema = false

    /// `nil` until the client listens.
    private(set) var listening: ConnectionListening?
    /// `nil` until an upload is asked for.
    private(set) var uploads: ConnectionUploads?
    /// `nil` until a download is asked for.
    private(set) var downloads: ConnectionDownloads?

    init(
        _ connection: Connection,
        server: ServerContext,
        responses: ConnectionResponses,
        user: ConnectionUser,
        bounds: Bounds
    ) {
        self.connection = connection
        self.server = server
        self.responses = responses
        self.user = user
        self.bounds = bounds
        self.pipeline = RequestPipeline(server: server, account: connection.account)
    }

    /// Sends the output of this tick.
    func flush() { self.connection.flush() }

    /// Takes a request after the machine has opened its stream.
    func start(_ stream: UInt32, payload: ByteBuffer, arrived: NIODeadline) {
        var label = RequestLabel(stream: stream)
        let admitted: RequestPipeline.Admitted
        do throws(RequestPipeline.Refusal) {
            admitted = try self.pipeline.admit(
                payload,
                of: self.user,
                bounds: self.bounds,
                origin: ChangeOrigin(run: self.server.run, connection: self.connection.number)
            ) { kind, requestID in
                label.operation = kind
                label.requestID = requestID
                self.server.metrics.requestStarted(kind)
                if !kind.movesAssets {
                    self.connection.busyUntil = self.connection.eventLoop.now + Self.quiet
                }
            }
        } catch {
            switch error {
            case .end(let failure):
                self.responses.tell(of: failure, label)
                return self.responses.end(stream, failure: failure)
            case .close(let reason, let field): return self.connection.close(reason, detail: field)
            }
        }
        let response = Response(
            stream: stream,
            kind: admitted.kind,
            arrived: arrived,
            request: admitted.request,
            deadlineMilliseconds: admitted.deadlineMilliseconds
        )
        self.responses.insert(response)
        if case .uploadAssets = admitted.kind { self.connection.machine.uploadOpened(stream) }
        guard let gate = self.connection.shared.gate else { return self.enqueue(response) }
        self.pass(response, admitted.request, gate)
    }

    /// Cancels a stream for the client.
    func cancelled(_ stream: UInt32) {
        switch self.responses.cancelled(stream) {
        case .ended: self.executeWaiting()
        case .executing: self.endTransfer(stream, failure: Failure(StoreError.cancelled))
        case .goesOn: break
        }
    }

    /// Resumes queued responses: the windows or the socket have room.
    func resumeResponses() {
        self.responses.resume()
        self.executeWaiting()
    }

    /// Ends uploads and downloads: durable bytes stay for the next connection.
    func endTransfers(failure: Failure) {
        self.uploads?.endAll(failure: failure)
        self.downloads?.endAll(failure: failure)
    }

    private func endTransfer(_ stream: UInt32, failure: Failure) {
        self.uploads?.end(stream, failure: failure)
        self.downloads?.end(stream, failure: failure)
    }

    /// Releases everything after the connection has ended.
    func removeAll() {
        self.listening?.end()
        self.uploads?.removeAll()
        self.downloads?.removeAll()
        self.queue.removeAll()
    }
}

// MARK: - Execution

extension ConnectionRequests {
    /// Executes the request of a response, or queues it until held responses have left.
    private func enqueue(_ response: Response) {
        guard self.queue.isEmpty, self.hasRoom else {
            self.queue.append(response.stream)
            return self.executeWaiting()
        }
        self.executeRequest(of: response)
    }

    /// Whether the held responses leave room for another one.
    private var hasRoom: Bool {
        self.responses.heldBytes < self.server.configuration.memory.responsesHeldBytesMax
    }

    /// Executes queued requests while there is room.
    private func executeWaiting() {
        guard self.queue.begin() else { return }
        while let stream = self.queue.next(hasRoom: self.hasRoom) {
            if let response = self.responses[stream] { self.executeRequest(of: response) }
        }
    }

    private func executeRequest(of response: Response) {
        guard let request = response.takeRequest() else { return }
        let tokens: ShareTokens?
        do throws(Failure) {
            tokens = try self.pipeline.begin(request, deadlineMilliseconds: response.deadlineMilliseconds)
        } catch {
            return self.responses.end(response.stream, failure: error)
        }
        self.ask(request, counting: tokens, for: response)
        if request.isReading { self.responses.reserve(self.server.responseReservedBytes, for: response) }
    }

    private func ask(_ request: AdmittedRequest, counting tokens: ShareTokens?, for response: Response) {
        let store = self.server.store
        let back = EngineReturn(
            requests: NIOLoopBound(self, eventLoop: self.connection.eventLoop),
            stream: response.stream,
            mailbox: self.connection.loop.mailbox,
            server: self.server,
            tokens: tokens
        )
        let container = self.user.container
        switch request {
        case .write(let write):
            store.write(write) { back.deliver($0.map { .written($0) }) }
        case .fetchRecords(let fetch, let requester):
            let items = EncodedItems(itemsMax: fetch.ids.count)
            store.fetchRecords(fetch.ids, desiredKeys: fetch.desiredKeys, for: requester, into: items) {
                items.finish()
                back.deliver($0.map { .encoded(items) })
            }
        case .fetchZones(let selection, let requester):
            store.fetchZones(selection, for: requester) { back.deliver($0.map { .read($0) }) }
        case .fetchShareMetadata(let fetch, let requester):
            store.fetchShareMetadata(fetch, container: container, for: requester) {
                back.deliver($0.map { .read($0) })
            }
        case .fetchShareParticipants(let fetch, let requester):
            store.fetchShareParticipants(fetch.lookups, for: requester) {
                back.deliver($0.map { .read($0) })
            }
        case .explain(let id, let requester):
            store.explain(id, for: requester) { back.deliver($0.map { .read([.explanation($0)]) }) }
        case .fetchSubscriptions(let selection, let requester):
            store.fetchSubscriptions(selection, for: requester) {
                back.deliver($0.map { .subscriptions($0) })
            }
        case .query(let query):
            let (server, now) = (self.server, self.server.clock())
            let items = EncodedItems()
            let (connection, label) = (self.connection.label, response.label)
            store.query(query.read, for: query.requester, into: items) {
                back.deliver(
                    $0.map { page in
                        server.tell(page.hiddenFields, of: query) { label.metadata(of: connection, $0) }
                        items.finish(End(page, of: query, key: server.sealKey, nowMilliseconds: now))
                        return .encoded(items)
                    }
                )
            }
        case .feed(let feed):
            let items = EncodedItems()
            feed.ask(store, key: self.server.sealKey, into: items) { result in
                back.deliver(
                    result.map { end in
                        items.finish(end)
                        return .encoded(items)
                    }
                )
            }
        case .checkSchema(let check):
            self.submit(check, for: response) { back.deliver($0) }
        case .listen(let identity):
            self.listeningMade().listen(as: identity, on: response.stream)
        case .upload(let upload):
            self.uploadsMade().start(upload, for: response)
        case .download(let download):
            self.downloadsMade().start(download, for: response)
        }
    }

    private func submit(
        _ check: SchemaCheck,
        for response: Response,
        reply: @escaping @Sendable (Result<Outcomes, StoreError>) -> Void
    ) {
        let schemas = self.server.store.schemas
        let holder = self.connection.account.holder
        let isAdmitted =
            !self.isCheckingSchema
            && self.server.schemaChecks.submit(of: holder, cost: check.schema.utf8.count) {
                reply(.success(.ended(check.end(schemas: schemas))))
            }
        guard isAdmitted else {
            return self.responses.end(response.stream, failure: Failure(Self.tooManyChecks))
        }
        self.isCheckingSchema = true
    }

    /// The engine replied.
    ///
    /// Called on the event loop, during the call to the engine or later.
    func replied(_ result: Result<Outcomes, StoreError>, on stream: UInt32) {
        guard let response = self.responses[stream] else { return }
        guard !self.responses.breaksConnection(insteadOf: stream) else {
            return self.connection.closeQuietly()
        }
        self.responses.endReservation(of: response)
        if response.kind == .checkSchema { self.isCheckingSchema = false }
        for id in result.damagedRecords { self.tell(ofDamage: id, response) }
        switch result {
        case .failure(let error):
            self.responses.end(stream, failure: Failure(error))
        case .success(let outcomes):
            self.responses.send(self.passing(outcomes, of: stream), on: response)
        }
        self.executeWaiting()
    }

    private func tell(ofDamage id: RecordID, _ response: Response) {
        let label = response.label
        self.server.tell(ofDamage: id, scope: response.scope, of: self.user) {
            label.metadata(of: self.connection.label, $0)
        }
    }

    private func listeningMade() -> ConnectionListening {
        let made =
            self.listening
            ?? ConnectionListening(self.connection, server: self.server, responses: self.responses)
        self.listening = made
        return made
    }

    private func uploadsMade() -> ConnectionUploads {
        let made =
            self.uploads
            ?? ConnectionUploads(self.connection, server: self.server, responses: self.responses)
        self.uploads = made
        return made
    }

    private func downloadsMade() -> ConnectionDownloads {
        let made =
            self.downloads
            ?? ConnectionDownloads(self.connection, server: self.server, responses: self.responses)
        self.downloads = made
        return made
    }
}

// MARK: - Decisions of a gate, in tests alone

extension ConnectionRequests {
    /// Lets a gate decide about an admitted request.
    private func pass(_ response: Response, _ request: AdmittedRequest, _ gate: any RequestGate) {
        let stream = response.stream
        let gated = GatedRequest(
            id: self.responses.gatedID(of: stream),
            operation: response.kind,
            userRecordName: self.user.signIn.userRecordName,
            request: request
        )
        switch gate.admitted(gated) {
        case .execute(let request):
            response.stage = .waiting(request)
            self.enqueue(response)
        case .delay(let duration, let request):
            response.stage = .waiting(request)
            self.connection.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(duration)) {
                self.letGo(stream)
                self.connection.flush()
            }
        case .hold(let request, let until):
            response.stage = .waiting(request)
            let back = LoopReturn(self, of: self.connection)
            until { back { $0.letGo(stream) } }
        case .respond(let outcomes):
            self.responses.send(outcomes, on: response)
            self.executeWaiting()
        case .fail(let failure):
            self.responses.end(stream, failure: failure)
        case .breakConnection:
            self.connection.closeQuietly()
        }
    }

    private func letGo(_ stream: UInt32) {
        guard let response = self.responses[stream], case .waiting = response.stage else { return }
        self.enqueue(response)
    }

    /// The outcomes that a gate lets pass.
    private func passing(_ outcomes: Outcomes, of stream: UInt32) -> Outcomes {
        self.connection.shared.gate?.passing(outcomes, of: self.responses.gatedID(of: stream)) ?? outcomes
    }
}
