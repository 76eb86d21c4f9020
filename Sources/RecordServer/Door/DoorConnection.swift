package import Logging
package import NIOCore
package import RecordModel
package import RecordStore
package import StorageContract
import Synchronization
package import WireProtocol

/// Takes what the engine reads for a request of another protocol.
package protocol DoorSink: FeedSink, FetchSink {
    /// The records that could not be read.
    var damaged: [RecordID] { get }
    /// The codes of the items that are failures.
    var failures: [ErrorCode] { get }
}

/// A connection of another protocol: its account, and the way of its requests to the engine.
///
/// Used on its event loop; replies come on any thread. One request at a time: what it holds is given
/// back before the next.
package final class DoorConnection {
    /// Whether there is no room for the connection, so that it only gets a refusal.
    package let isRefused: Bool
    /// The network of its address, for lines of the log.
    package let network: String
    package let slowReaderTimeout: TimeAmount

    private let server: ServerContext
    private let eventLoop: any EventLoop
    private let number: UInt64
    private var account: Account
    private var heldResponseBytes = 0
    private var heldRequestBytes = 0

    init(
        _ server: ServerContext,
        _ channel: any Channel,
        network: String,
        account: Account,
        isRefused: Bool
    ) {
        self.server = server
        self.eventLoop = channel.eventLoop
        self.number = server.takeConnectionNumber()
        self.network = network
        self.account = account
        self.isRefused = isRefused
        self.slowReaderTimeout = TimeAmount(server.configuration.timeouts.slowReader)
    }

    package var logger: Logger { self.server.logger }
    /// Milliseconds since 1970.
    package var clock: @Sendable () -> Int64 { self.server.clock }

    /// The channel is closed.
    func ended() {
        self.holdRequest(bytes: 0)
        self.holdResponse(bytes: 0)
        self.server.metrics.connectionClosed(
            now: self.server.accounts.closed(self.account, wasRefused: self.isRefused)
        )
    }

    // MARK: Room

    /// Takes room for the bytes of a request that are waiting for the rest, instead of what it held
    /// before.
    ///
    /// - Returns: Whether there is room.
    @discardableResult
    package func holdRequest(bytes: Int) -> Bool {
        let added = bytes - self.heldRequestBytes
        guard added <= 0 || self.account.unfinishedFrames.hasRoom(for: added) else { return false }
        self.account.unfinishedFrames.add(added)
        self.heldRequestBytes = bytes
        return true
    }

    /// Counts the bytes of a response that the client has not taken, instead of those before.
    package func holdResponse(bytes: Int) {
        self.account.responses.add(bytes - self.heldResponseBytes)
        self.heldResponseBytes = bytes
    }

    // MARK: The sender

    /// Finds out who asks, on a thread, when the turn of the connection's holder comes.
    ///
    /// - Parameters:
    ///   - claim: What the request says.
    ///   - bytes: The size of the request, which is its cost.
    ///   - then: Goes on there; decoding belongs into it.
    /// - Returns: `false` if the holder has too much waiting.
    package func admit(
        _ claim: DoorClaim,
        bytes: Int,
        then: @escaping @Sendable (Result<Visitor, DoorRefusal>) -> Void
    ) -> Bool {
        let (server, network) = (self.server, self.network)
        return server.doorTurns.submit(of: self.account.holder, cost: 4_096 + bytes) {
            do throws(SignInRefusal) {
                let admittance = try server.authenticator.signIn(claim)
                let bounds = server.configuration.bounds
                then(.success(Visitor(admittance, claim, network: network, bounds: bounds)))
            } catch {
                server.logger.info(
                    "sign-in refused",
                    metadata: [
                        LogKeys.peer: "\(network)", LogKeys.reason: "\(error.reason.text)",
                        LogKeys.detail: "\(error.detail)",
                    ]
                )
                then(.failure(DoorRefusal(error)))
            }
        }
    }

    /// How long to delay the response to a request that was not let in.
    package func pauseAfterRefusal() -> TimeAmount {
        self.server.refusals.withLock { $0.refused(self.network, now: .now()) }
    }

    /// Moves the connection to the account of who asks; at rest it holds nothing.
    ///
    /// - Returns: `false` if they have as many connections as they may.
    package func belongs(to visitor: Visitor) -> Bool {
        let holder = visitor.user.holder
        guard holder != self.account.holder else { return true }
        let (request, response) = (self.heldRequestBytes, self.heldResponseBytes)
        guard let account = self.server.accounts.signedIn(holder, instead: self.account) else { return false }
        self.holdRequest(bytes: 0)
        self.holdResponse(bytes: 0)
        self.account = account
        self.account.unfinishedFrames.add(request)
        self.heldRequestBytes = request
        self.holdResponse(bytes: response)
        return true
    }

    // MARK: Requests

    /// Has an operation judged and executed as one of the binary protocol.
    ///
    /// - Parameters:
    ///   - operation: One of records, zones and feeds.
    ///   - requestID: Of a change.
    ///   - visitor: The sender.
    ///   - bytes: The size of the request.
    ///   - sink: Takes records and deletions; zones and outcomes of changes are in the reply.
    ///   - reply: Called on any thread, perhaps within this call.
    package func perform(
        _ operation: Operation,
        requestID: RequestID?,
        by visitor: Visitor,
        bytes: Int,
        into sink: any DoorSink,
        reply: @escaping @Sendable (Result<Outcomes, Failure>) -> Void
    ) {
        let kind = OperationKind(operation)
        let (server, number, user, started) = (self.server, self.number, visitor.user, NIODeadline.now())
        server.metrics.requestStarted(kind)
        let ended: @Sendable (Result<Outcomes, Failure>, DatabaseScope?) -> Void = { result, scope in
            server.metrics.requestEnded(kind, nanoseconds: (NIODeadline.now() - started).nanoseconds)
            for code in result.codes + sink.failures { server.metrics.failed(code) }
            for id in sink.damaged {
                server.tell(ofDamage: id, scope: scope, of: user) {
                    $0.merging([LogKeys.connection: .stringConvertible(number)]) { $1 }
                }
            }
            reply(result)
        }
        let pipeline = RequestPipeline(server: server, account: self.account)
        do throws(Failure) {
            if case .modifyRecords(let modify) = operation { try modify.checkSize(within: visitor.bounds) }
            let admitted = try pipeline.admit(
                Request(requestID: requestID, deadlineMilliseconds: 0, operation: operation),
                bytes: bytes,
                of: user,
                bounds: visitor.bounds,
                origin: ChangeOrigin(run: server.run, connection: number)
            )
            let scope = admitted.request.scope
            _ = try pipeline.begin(admitted.request, deadlineMilliseconds: admitted.deadlineMilliseconds)
            // A read takes memory before its size is known.
            let (account, bytes) = (
                self.account, admitted.request.isReading ? server.responseReservedBytes : 0
            )
            account.responses.add(bytes)
            self.ask(admitted.request, into: sink) { result in
                account.responses.add(-bytes)
                ended(result.mapError { Failure($0) }, scope)
            }
        } catch {
            ended(.failure(error), nil)
        }
    }

    private func ask(
        _ request: AdmittedRequest,
        into sink: any DoorSink,
        _ reply: @escaping @Sendable (Result<Outcomes, StoreError>) -> Void
    ) {
        let (server, store) = (self.server, self.server.store)
        switch request {
        case .write(let write): store.write(write) { reply($0.map { .written($0) }) }
        case .fetchRecords(let fetch, let requester):
            store.fetchRecords(fetch.ids, desiredKeys: fetch.desiredKeys, for: requester, into: sink) {
                reply($0.map { .ended(End()) })
            }
        case .fetchZones(let selection, let requester):
            store.fetchZones(selection, for: requester) { reply($0.map { .read($0) }) }
        case .query(let query):
            let now = server.clock()
            store.query(query.read, for: query.requester, into: sink) {
                reply(
                    $0.map { page in
                        server.tell(page.hiddenFields, of: query) { $0 }
                        return .ended(
                            End(page, of: query, key: server.sealKey, nowMilliseconds: now)
                        )
                    }
                )
            }
        case .feed(let feed):
            feed.ask(store, key: server.sealKey, into: sink) { reply($0.map { .ended($0) }) }
        case .checkSchema, .fetchSubscriptions, .listen, .fetchShareMetadata, .fetchShareParticipants,
            .explain, .upload, .download:
            preconditionFailure("an operation that no other protocol has")
        }
    }
}

extension Result<Outcomes, Failure> {
    /// The codes of all failures.
    fileprivate var codes: [ErrorCode] {
        switch self {
        case .failure(let failure): [failure.code]
        case .success(let outcomes):
            (0..<outcomes.count).compactMap {
                if case .failure(let failure) = outcomes.item(at: $0) { failure.code } else { nil }
            }
        }
    }
}

extension ModifyRecords {
    /// Refuses what would be too large for the binary protocol.
    fileprivate func checkSize(within bounds: Bounds) throws(Failure) {
        let saved = self.saves.reduce(0) { $0 + $1.changes.bytes.count + $1.id.recordName.utf8.count }
        let bytes = self.deletes.reduce(saved) { $0 + $1.recordName.utf8.count }
        guard bytes <= bounds.requestBytesMax else {
            throw .requestTooLarge(bytes: bytes, bytesMax: bounds.requestBytesMax)
        }
    }
}
