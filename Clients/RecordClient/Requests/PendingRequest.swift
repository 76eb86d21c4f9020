import NIOCore
import RecordModel
import WireProtocol

/// A request from its start to its end.
///
/// Lives on the session's event loop. A class: it is looked up several times, and changed in between.
final class PendingRequest {
    /// Who gets the answer.
    enum Receiver: Sendable {
        case callbacks(
            items: @Sendable ([Item]) -> Void,
            end: @Sendable (Result<End, ClientError>) -> Void
        )
        case continuation(CheckedContinuation<Result<[UInt32: ItemOutcome], ClientError>, Never>)
        /// The session, which looks for itself.
        case session
    }

    enum Place: Hashable, Sendable {
        /// Not sent, or to be sent again.
        case waiting
        case sent(StreamKey)
        /// To be sent again, when the server has room.
        case later
        /// The server has answered; bytes that came are being written.
        case finishing
    }

    /// What a request moves besides messages.
    enum Transfer {
        case upload(UploadTransfer)
        case download(DownloadTransfer)
    }

    let number: UInt64
    private let fixedOperation: Operation
    let transfer: Transfer?
    let receiver: Receiver
    /// Longest silence.
    let requestTimeout: TimeAmount
    let resourceDeadline: NIODeadline
    var silenceDeadline: NIODeadline
    private let connectionTimeout: TimeAmount
    /// `nil` while there is a connection, and for good once the request was sent.
    private var connectionDeadline: NIODeadline?
    var place: Place = .waiting
    /// The caller has the answer, or wants none.
    var hasEnded = false
    /// Made when the request is first sent; the same whenever it is sent again.
    var requestID: RequestID?
    /// When it was first sent; `nil`: never.
    var sentAt: NIODeadline?
    /// A connection broke while its answer was awaited: only an answer to its ID tells whether it was executed.
    var mayHaveTakenEffect = false
    private var delivered = DeliveredItems()
    private var outcomes: [UInt32: ItemOutcome] = [:]
    /// Items of a list, of all zones or of a page, frame by frame: they have no numbers of their own until it is complete.
    private var listed: [[Item]] = []

    /// Notes when the request was started: its time runs from `now`.
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

    /// What to ask: of a download what is still to come.
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

    /// When the request ends for want of an answer, unless something of it arrives.
    var deadline: NIODeadline {
        let deadline = min(self.silenceDeadline, self.resourceDeadline)
        guard self.sentAt == nil, let connectionDeadline else { return deadline }
        return min(deadline, connectionDeadline)
    }

    /// There is no connection; the time without one runs from the first moment on.
    func lacksConnection(since now: NIODeadline) {
        self.connectionDeadline = self.connectionDeadline ?? now + self.connectionTimeout
    }

    func hasConnection() { self.connectionDeadline = nil }

    /// How a request ends whose time is over; `reason` if it was never sent, or changes nothing.
    func timedOut(_ reason: ClientError) -> ClientError {
        self.sentAt != nil && self.operation.isMutating ? .responseLost : reason
    }

    /// Hands over the items that were not handed over before.
    ///
    /// - Returns: Whether the request has items of these numbers.
    func deliver(_ items: [Item]) -> Bool {
        guard let itemCount = self.operation.itemCount else {
            self.listed.append(items)
            return true
        }
        guard items.allSatisfy({ Int($0.index) < itemCount }) else { return false }
        let areNew = items.map { self.delivered.insert($0.index) }
        // Nearly always all are, and none is copied.
        self.handOver(areNew.contains(false) ? zip(items, areNew).filter(\.1).map(\.0) : items)
        return true
    }

    /// The connection broke: what of a list had come is of no use.
    func forgetList() {
        self.listed = []
    }

    /// Whether nothing of an answer was handed over.
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

/// Names a stream among those of all connections of a client.
struct StreamKey: Hashable, Sendable {
    var connection: Int
    var stream: UInt32
}

extension Operation {
    /// How many items the answer has; `nil`: as many as there are.
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
        case .checkSchema, .fetchToken, .listen, .uploadAssets, .downloadAssets: 0
        }
    }
}
