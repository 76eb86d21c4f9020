import NIOCore
import RecordModel
import WireProtocol

/// A request from its start to its end.
///
/// It lives on the session's event loop. It is a class because it is looked up several times and
/// changed in between.
final class PendingRequest {
    /// The recipient of the results.
    enum Receiver: Sendable {
        case callbacks(
            items: @Sendable ([Item]) -> Void,
            end: @Sendable (Result<End, ClientError>) -> Void
        )
        case continuation(CheckedContinuation<Result<[UInt32: ItemOutcome], ClientError>, Never>)
        /// The session, which reads them from the request.
        case session
    }

    enum Phase: Hashable, Sendable {
        /// Not sent, or to be sent again.
        case waiting
        case sent(StreamKey)
        /// To be sent again when the server has room.
        case later
        /// The response is complete; received bytes are still being written.
        case finishing
    }

    /// The bytes that a request moves besides messages.
    enum Transfer {
        case upload(UploadTransfer)
        case download(DownloadTransfer)
    }

    let number: UInt64
    private let fixedOperation: Operation
    let transfer: Transfer?
    let receiver: Receiver
    /// The longest time without a sign of the server.
    let requestTimeout: TimeAmount
    let resourceDeadline: NIODeadline
    var silenceDeadline: NIODeadline
    private let connectionTimeout: TimeAmount
    /// `nil` while there is a connection, and forever once the request was sent.
    private var connectionDeadline: NIODeadline?
    var phase: Phase = .waiting
    /// The caller has the result, or wants none.
    var hasEnded = false
    /// Made when the request is first sent, and kept when it is sent again.
    var requestID: RequestID?
    /// When the request was first sent, or `nil` if it never was.
    var sentAt: NIODeadline?
    /// Whether a connection broke while the response was awaited.
    ///
    /// Only a response to the same ID shows whether the request was executed.
    var mayHaveTakenEffect = false
    private var delivered = DeliveredItems()
    private var outcomes: [UInt32: ItemOutcome] = [:]
    /// Items of a list, of all zones or of a page, frame by frame.
    ///
    /// They have no numbers of their own until the list is complete.
    private var listed: [[Item]] = []
    private var listedCount = 0
    /// Bound on `responseBytes`, by the limits of the connection that the request was sent on.
    var responseBytesMax = 0
    /// Payload bytes of the frames with items that were kept or delivered.
    private var responseBytes = 0

    /// Starts the request's timeouts at `now`.
    init(
        number: UInt64,
        operation: Operation,
        transfer: Transfer? = nil,
        timeouts: Timeouts,
        receiver: Receiver,
        now: NIODeadline
    ) {
        self.number = number
        self.fixedOperation = operation
        self.transfer = transfer
        self.receiver = receiver
        self.requestTimeout = timeouts.request
        self.connectionTimeout = timeouts.connection
        self.silenceDeadline = now + timeouts.request
        self.resourceDeadline = now + timeouts.resource
    }

    var isDownload: Bool { if case .download = self.transfer { true } else { false } }

    /// The operation to send: for a download, only the missing part.
    var operation: Operation {
        if case .download(let download) = self.transfer { download.operation } else { self.fixedOperation }
    }

    /// What its stream carries besides items.
    var transferStream: TransferStream? {
        switch self.transfer {
        case .upload(let upload): .upload(UploadStream(upload.upload.assets))
        case .download(let download): .download(DownloadStream(download.remaining.map(\.range)))
        case nil: nil
        }
    }

    /// When the request ends for lack of a response, unless a part of it arrives.
    var deadline: NIODeadline {
        let deadline = min(self.silenceDeadline, self.resourceDeadline)
        guard self.sentAt == nil, let connectionDeadline else { return deadline }
        return min(deadline, connectionDeadline)
    }

    /// Notes that there is no connection.
    ///
    /// The time without one counts from the first call.
    func lacksConnection(since now: NIODeadline) {
        self.connectionDeadline = self.connectionDeadline ?? now + self.connectionTimeout
    }

    func hasConnection() { self.connectionDeadline = nil }

    /// The error of a request that timed out; `reason` if it was never sent, or changes nothing.
    func timedOut(_ reason: ClientError) -> ClientError {
        self.sentAt != nil && self.operation.isMutating ? .responseLost : reason
    }

    /// Delivers the items that were not delivered before.
    ///
    /// - Throws: `Violation` if the request has no items of these numbers, or if a response has more
    ///   items or bytes than the request may have.
    func deliver(_ items: [Item], payloadBytes: Int) throws(Violation) {
        guard let itemCount = self.operation.itemCount else {
            try self.count(payloadBytes)
            self.listedCount += items.count
            guard self.listedCount <= self.operation.itemsMax else { throw .responseTooLarge }
            self.listed.append(items)
            return
        }
        guard items.allSatisfy({ Int($0.index) < itemCount }) else { throw .itemUnknown }
        let areNew = items.map { self.delivered.insert($0.index) }
        if areNew.contains(true) { try self.count(payloadBytes) }
        // Nearly always all items are new, and none is copied.
        self.handOver(areNew.contains(false) ? zip(items, areNew).filter(\.1).map(\.0) : items)
    }

    private func count(_ payloadBytes: Int) throws(Violation) {
        self.responseBytes += payloadBytes
        guard self.responseBytes <= self.responseBytesMax else { throw .responseTooLarge }
    }

    /// Drops the items of a list after its connection broke; an incomplete list is of no use.
    func forgetList() {
        guard self.operation.itemCount == nil else { return }
        self.listed = []
        self.listedCount = 0
        self.responseBytes = 0
    }

    /// Whether no part of a response was delivered.
    var isUntouched: Bool { self.delivered.isEmpty && self.listed.isEmpty }

    /// Ends the request; the last call.
    func end(_ result: Result<End, ClientError>) {
        if case .success = result { for items in self.listed { self.handOver(items) } }
        switch self.receiver {
        case .callbacks(_, let end): end(result)
        case .continuation(let continuation):
            continuation.resume(returning: result.map { _ in self.outcomes })
        case .session: break
        }
    }

    private func handOver(_ items: [Item]) {
        guard !items.isEmpty else { return }
        switch self.receiver {
        case .callbacks(let receive, _): receive(items)
        case .continuation: for item in items { self.outcomes[item.index] = item.outcome }
        case .session: break
        }
    }
}

/// Identifies a stream among those of all connections of a client.
struct StreamKey: Hashable, Sendable {
    var connection: Int
    var stream: UInt32
}

extension Operation {
    /// The most items that a response may have.
    var itemsMax: Int {
        func page(_ limit: UInt32, _ pageMax: Int) -> Int { limit == 0 ? pageMax : min(Int(limit), pageMax) }
        return switch self {
        case .queryRecords(let query): query.isCount ? 0 : page(query.limit, Bounds.queryPageMax)
        case .fetchChanges(let fetch): page(fetch.limit, Bounds.feedPageMax)
        case .fetchDatabaseChanges(let fetch): page(fetch.limit, Bounds.feedPageMax)
        case .fetchZones: self.itemCount ?? Bounds.defaults.zonesMax
        case .fetchSubscriptions: self.itemCount ?? Bounds.subscriptionsMax
        default: self.itemCount ?? 0
        }
    }

    /// Number of items in the response, or `nil` if it is not known in advance.
    var itemCount: Int? {
        switch self {
        case .modifyRecords(let modify): modify.saves.count + modify.deletes.count
        case .fetchRecords(let fetch): fetch.ids.count
        case .modifyZones(let modify): modify.saves.count + modify.deletes.count
        case .fetchZones(let fetch):
            switch fetch.selection {
            case .all: nil
            case .ids(let ids): ids.count
            }
        case .queryRecords, .fetchChanges, .fetchDatabaseChanges: nil
        case .modifySubscriptions(let modify): modify.saves.count + modify.deletes.count
        case .fetchSubscriptions(let fetch):
            switch fetch.selection {
            case .all: nil
            case .ids(let ids): ids.count
            }
        case .acceptShares(let accept): accept.tokens.count
        case .fetchShareMetadata(let fetch): fetch.tokens.count
        case .fetchShareParticipants(let fetch): fetch.lookups.count
        case .requestShareAccess(let request): request.tokens.count
        case .explainRecord: 1
        case .checkSchema, .fetchToken, .listen, .uploadAssets, .downloadAssets: 0
        }
    }
}
