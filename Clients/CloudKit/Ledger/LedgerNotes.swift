internal import RecordModel
private import Synchronization
internal import WireProtocol

/// What the results of a request mean for the ledgers.
enum LedgerUse: Sendable {
    /// The request fetches a page of a zone's or the database's feed; `isReturn` is as that of the
    /// ledger's page.
    case page(scope: DatabaseScopeModel, zone: ZoneID?, token: [UInt8], isReturn: Bool, Ledgers.Reader)
    /// The request changes records.
    case changes(scope: DatabaseScopeModel, Ledgers.Reader)
}

/// What a result means for an item of a ledger.
struct LedgerNote: Sendable {
    var zone: ZoneID?
    var name: String
    /// The type of the item; `nil` if it no longer exists.
    var type: String?
}

/// Writes the results of a request into the ledgers, before its caller is told that it has ended.
final class LedgerNotes<Request: BatchRequest>: Sendable {
    private let request: Request
    private let use: LedgerUse
    private let ledgers: Ledgers
    private let user: String
    private let notes = Mutex<[LedgerNote]>([])

    /// Makes the notes; `nil` if the request has none, or no ledger is kept.
    init?(_ request: Request, _ ledgers: Ledgers?, user: String) {
        guard let use = request.ledgerUse, let ledgers else { return nil }
        self.request = request
        self.use = use
        self.ledgers = ledgers
        self.user = user
    }

    func add(_ answers: [Request.Answer]) {
        let notes = answers.compactMap { self.request.note(of: $0) }
        self.notes.withLock { $0 += notes }
    }

    /// Notes that the request has ended.
    ///
    /// - Returns: Further results: the vanished items, which the server can't name.
    func ended(_ end: End) -> [Request.Answer] {
        let notes = self.notes.withLock { $0 }
        switch self.use {
        case .page(let scope, let zone, let token, let isReturn, let reader):
            guard !end.token.isEmpty else { return [] }
            var page = FeedLedger.Page(token: token, next: end.token, moreComing: end.moreComing)
            (page.told, page.deleted) = notes.grouped
            page.isReturn = isReturn
            // An engine without a token may have had one that its app did not store before it was
            // killed.
            page.reportsAlways = reader == .engine
            return self.ledgers.ledger(of: zone, in: scope, user: self.user, reader).take(page)
                .compactMap { self.request.answer(lost: $0.name, type: $0.type) }
        case .changes(let scope, let reader):
            for (zone, notes) in Dictionary(grouping: notes, by: \.zone) {
                let (told, deleted) = notes.grouped
                self.ledgers.ledger(of: zone, in: scope, user: self.user, reader)
                    // A sync engine fetches every zone that it sends to.
                    .saved(told, deleted: deleted, isFollowed: reader != .app)
            }
            return []
        }
    }

    /// Notes that the request failed as a whole.
    func failed(_ error: CKError) {
        guard error.code == .changeTokenExpired,
            case .page(let scope, let zone, let token, let isReturn, let reader) = self.use, !token.isEmpty
        else { return }
        self.ledgers.ledger(of: zone, in: scope, user: self.user, reader)
            .expired(token, isReturn: isReturn)
    }
}

extension [LedgerNote] {
    fileprivate var grouped: (told: [String: [String]], deleted: [String]) {
        var told: [String: [String]] = [:]
        var deleted: [String] = []
        for note in self {
            if let type = note.type {
                told[type, default: []].append(note.name)
            } else {
                deleted.append(note.name)
            }
        }
        return (told, deleted)
    }
}
