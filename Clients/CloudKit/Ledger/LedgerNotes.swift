internal import RecordModel
internal import WireProtocol

/// The meaning of a request's results for the ledgers.
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

/// Writes the results of a request into the ledgers, before its caller gets its end.
struct LedgerNotes<Request: BatchRequest>: Sendable {
    private let role: LedgerRole<Request>
    private let ledgers: Ledgers
    private let user: String
    private var names: [(zone: ZoneID?, names: LedgerNames)] = []

    /// Makes the notes; `nil` if the request has none, or no ledger is kept.
    init?(_ attempt: RequestAttempt<Request>) {
        guard let role = attempt.roles.ledger, let ledgers = attempt.session?.ledgers else { return nil }
        self.role = role
        self.ledgers = ledgers
        self.user = attempt.user
    }

    mutating func add(_ results: [Request.ItemResult]) {
        // Another reader may still need a deletion that a feed has reported.
        let deletion: LedgerNames.Kind =
            switch self.role.use {
            case .page: .deleted
            case .changes: .removed
            }
        for itemResult in results {
            guard let note = self.role.note(itemResult) else { continue }
            if self.names.last?.zone != note.zone || self.names.isEmpty {
                self.names.append((note.zone, LedgerNames()))
            }
            let last = self.names.count - 1
            if let type = note.type {
                self.names[last].names.report(note.name, type: type)
            } else {
                self.names[last].names.add(note.name, as: deletion)
            }
        }
    }

    /// Notes that the request has ended.
    ///
    /// - Returns: Further results: the vanished items, which the server can't name.
    func ended(_ end: End) -> [Request.ItemResult] {
        switch self.role.use {
        case .page(let scope, let zone, let token, let isReturn, let reader):
            guard !end.token.isEmpty else { return [] }
            var page = FeedLedger.Page(token: token, next: end.token, moreComing: end.moreComing)
            page.names = self.names.first?.names ?? LedgerNames()
            page.isReturn = isReturn
            // An engine without a token may have had one that its app did not store before it was
            // killed.
            page.reportsAlways = reader == .engine
            return self.ledgers.ledger(of: zone, in: scope, user: self.user, reader).take(page)
                .compactMap { self.role.lost?($0.name, $0.type) }
        case .changes(let scope, let reader):
            for (zone, names) in self.names {
                self.ledgers.ledger(of: zone, in: scope, user: self.user, reader)
                    // A sync engine fetches every zone that it sends to.
                    .saved(names, isFollowed: reader != .app)
            }
            return []
        }
    }

    /// Notes that the request failed as a whole.
    func failed(_ error: CKError) {
        guard error.code == .changeTokenExpired,
            case .page(let scope, let zone, let token, let isReturn, let reader) = self.role.use,
            !token.isEmpty
        else { return }
        self.ledgers.ledger(of: zone, in: scope, user: self.user, reader)
            .expired(token, isReturn: isReturn)
    }
}
