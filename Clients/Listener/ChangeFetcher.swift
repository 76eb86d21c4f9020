import CloudKit

/// Fetches what changed and prints it, a line a change.
struct ChangeFetcher {
    let container: CKContainer
    var tokens: TokenFile
    let printsJSON: Bool

    /// Notes where a feed is now, unless it was followed before.
    ///
    /// What is in a database now is not of interest either: its zones are noted, too.
    mutating func beginNow(_ feed: Feed) async throws {
        guard self.tokens[feed] == nil else { return }
        switch feed {
        case .zone(let zone, let scope):
            let database = self.container.database(with: scope)
            do {
                let token = try await Patience.patiently { try await database.currentToken(inZoneWith: zone) }
                try self.tokens.keep(token, for: feed)
            } catch let error as CKError where error.code == .zoneNotFound {
                return
            }
        case .database(let scope):
            let database = self.container.database(with: scope)
            // First: a zone that is made meanwhile has changes after it.
            let token = try await Patience.patiently { try await database.currentDatabaseToken() }
            let zones = try await Patience.patiently { try await database.allRecordZones() }
            for zone in zones { try await self.beginNow(.zone(zone.zoneID, scope)) }
            try self.tokens.keep(token, for: feed)
        }
    }

    /// Fetches and prints a feed to its end.
    mutating func fetch(_ feed: Feed) async throws {
        switch feed {
        case .database(let scope): try await self.fetchDatabase(scope)
        case .zone(let zone, let scope): try await self.fetchZone(zone, scope)
        }
    }

    private mutating func fetchDatabase(_ scope: CKDatabase.Scope) async throws {
        let database = self.container.database(with: scope)
        let feed = Feed.database(scope)
        var moreComing = true
        while moreComing {
            let token = self.tokens[feed]
            do {
                let page = try await Patience.patiently { try await database.databaseChanges(since: token) }
                for deletion in page.deletions {
                    try self.print(.zoneDeleted(deletion.zoneID))
                    try self.tokens.keep(nil, for: .zone(deletion.zoneID, scope))
                }
                for modification in page.modifications {
                    try self.print(.zoneChanged(modification.zoneID))
                    try await self.fetchZone(modification.zoneID, scope)
                }
                // Last: a run that ends before it finds the zones again, and of each only what it had not got.
                try self.tokens.keep(page.changeToken, for: feed)
                moreComing = page.moreComing
            } catch let error as CKError where error.code == .changeTokenExpired && token != nil {
                try self.beginAnew(feed)
            }
        }
    }

    private mutating func fetchZone(_ zone: CKRecordZone.ID, _ scope: CKDatabase.Scope) async throws {
        let database = self.container.database(with: scope)
        let feed = Feed.zone(zone, scope)
        var moreComing = true
        while moreComing {
            let token = self.tokens[feed]
            do {
                let page = try await Patience.patiently {
                    try await database.recordZoneChanges(inZoneWith: zone, since: token)
                }
                for record in try page.modificationResultsByID.values.map({ try $0.get().record }).inOrder {
                    try self.print(.saved(record))
                }
                for deletion in page.deletions {
                    try self.print(.deleted(deletion.recordID, deletion.recordType))
                }
                try self.tokens.keep(page.changeToken, for: feed)
                moreComing = page.moreComing
            } catch let error as CKError where error.code == .changeTokenExpired && token != nil {
                try self.beginAnew(feed)
            } catch let error as CKError where error.code == .zoneNotFound {
                Output.status("zone \(zone.zoneName) is not there any more, or not yet")
                try self.tokens.keep(nil, for: feed)
                return
            }
        }
    }

    private mutating func beginAnew(_ feed: Feed) throws(ListenFailure) {
        Output.status("the token of \(feed.text) has expired: everything in it is fetched again")
        try self.tokens.keep(nil, for: feed)
    }

    private func print(_ line: ChangeLine) throws(ListenFailure) {
        try Output.line(self.printsJSON ? line.json : line.text)
    }
}

extension [CKRecord] {
    /// In the order of their last changes, as far as dates tell.
    fileprivate var inOrder: [CKRecord] {
        func key(_ record: CKRecord) -> (Date, String) {
            (record.modificationDate ?? .distantPast, record.recordID.recordName)
        }
        return self.sorted { key($0) < key($1) }
    }
}
