internal import RecordModel
private import Synchronization
internal import WireProtocol

/// What the answers to a request say of items of feeds.
enum LedgerUse: Sendable {
    /// It is a page of a feed: of a zone's, or of the database's; `isReturn` is as that of the ledger's page.
    case page(scope: DatabaseScopeModel, zone: ZoneID?, token: [UInt8], isReturn: Bool, Ledgers.Reader)
    /// It changes records.
    case changes(scope: DatabaseScopeModel, Ledgers.Reader)
}

/// What an answer says of an item.
struct LedgerNote: Sendable {
    var zone: ZoneID?
    var name: String
    /// `nil`: it is there no more.
    var type: String?
}

/// Notes what the answers to a request tell, before its caller hears that it has ended.
final class LedgerNotes<Request: BatchRequest>: Sendable {
    private let request: Request
    private let use: LedgerUse
    private let ledgers: Ledgers
    private let user: String
    private let notes = Mutex<[LedgerNote]>([])

    /// `nil` if the request tells nothing, or nothing is kept.
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

    /// The request has ended.
    ///
    /// - Returns: Further answers: what is there no more, though the server can't say so.
    func ended(_ end: End) -> [Request.Answer] {
        let notes = self.notes.withLock { $0 }
        switch self.use {
        case .page(let scope, let zone, let token, let isReturn, let reader):
            guard !end.token.isEmpty else { return [] }
            var page = FeedLedger.Page(token: token, next: end.token, moreComing: end.moreComing)
            (page.told, page.deleted) = notes.grouped
            page.isReturn = isReturn
            // An engine without a token may have one whose app was killed before it kept it.
            page.reportsAlways = reader == .engine
            return self.ledgers.ledger(of: zone, in: scope, user: self.user, reader).take(page)
                .compactMap { self.request.answer(lost: $0.name, type: $0.type) }
        case .changes(let scope, let reader):
            for (zone, notes) in Dictionary(grouping: notes, by: \.zone) {
                let (told, deleted) = notes.grouped
                self.ledgers.ledger(of: zone, in: scope, user: self.user, reader)
                    // A sync engine fetches whatever it sends to.
                    .saved(told, deleted: deleted, isFollowed: reader != .app)
            }
            return []
        }
    }

    /// The request failed as a whole.
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
