import CloudKit

/// Fetches changes and reports them, one after the other.
struct ChangeFetcher {
    /// Reports a change; `isNew` is whether the feed was read before.
    typealias Tell = (_ change: ChangeLine, _ isNew: Bool) async throws -> Void

    let container: CKContainer
    let link: Link
    var state: StateFile
    let tell: Tell

    /// Notes the current position of a feed, unless it was followed before.
    ///
    /// The current contents of a database are skipped too, so its zones are noted as well. Of a
    /// query the records that match now are noted, because they may stop to match.
    mutating func beginNow(_ reading: Reading) async throws {
        guard self.state[reading] == nil else { return }
        let database = self.container.database(with: reading.feed.scope)
        switch reading.feed {
        case .zone(let zone, _):
            do {
                // This comes first: a record that matches meanwhile then has a change after it.
                let token = try await self.link.ask { try await database.currentToken(inZoneWith: zone) }
                let names = try await self.namesNow(reading, zone, database)
                try self.state.keep(token, for: reading, matching: names)
            } catch let error as CKError where error.code == .zoneNotFound {
                return
            }
        case .database:
            // This comes first: a zone that is made meanwhile then has changes after it.
            let token = try await self.link.ask { try await database.currentDatabaseToken() }
            let zones = try await self.link.ask { try await database.allRecordZones() }
            for zone in zones { try await self.beginNow(reading.within(zone.zoneID)) }
            try self.state.keep(token, for: reading)
        }
    }

    /// Returns the records that match the query of a reading now.
    private func namesNow(
        _ reading: Reading,
        _ zone: CKRecordZone.ID,
        _ database: CKDatabase
    ) async throws -> Set<CKRecord.ID> {
        guard let filter = reading.filter else { return [] }
        var names: Set<CKRecord.ID> = []
        do {
            let query = CKQuery(recordType: filter.recordType, predicate: filter.predicate)
            var page = try await self.link.ask {
                try await database.records(matching: query, inZoneWith: zone, desiredKeys: [])
            }
            while true {
                names.formUnion(page.matchResults.map { $0.0.withoutZone })
                guard let cursor = page.queryCursor else { return names }
                page = try await self.link.ask {
                    try await database.records(continuingMatchFrom: cursor, desiredKeys: [])
                }
            }
        } catch let error as CKError where error.code == .unknownItem {
            // No record of the type was saved yet.
            return []
        }
    }

    /// Fetches a feed up to its end.
    mutating func fetch(_ reading: Reading) async throws {
        switch reading.feed {
        case .database: try await self.fetchDatabase(reading)
        case .zone(let zone, _):
            try await self.fetchZone(zone, reading, isNew: self.state[reading] != nil)
        }
    }

    private mutating func fetchDatabase(_ reading: Reading) async throws {
        let database = self.container.database(with: reading.feed.scope)
        let isNew = self.state[reading] != nil
        var (moreComing, expirations) = (true, 0)
        while moreComing {
            let token = self.state[reading]
            do {
                let page = try await self.link.ask { try await database.databaseChanges(since: token) }
                for deletion in page.deletions {
                    let part = reading.within(deletion.zoneID)
                    if reading.filter == nil { try await self.tell(.zoneDeleted(deletion.zoneID), isNew) }
                    try await self.tellGone(self.state.matching(part), of: deletion.zoneID, part, isNew)
                    try self.state.keep(nil, for: part)
                }
                for modification in page.modifications {
                    if reading.filter == nil {
                        try await self.tell(.zoneChanged(modification.zoneID), isNew)
                    }
                    try await self.fetchZone(
                        modification.zoneID,
                        reading.within(modification.zoneID),
                        isNew: isNew
                    )
                }
                // This comes last: if the run ends before, the next one finds the zones again, and
                // of each zone only the rest.
                try self.state.keep(page.changeToken, for: reading)
                moreComing = page.moreComing
            } catch let error as CKError where error.code == .changeTokenExpired && token != nil {
                expirations += 1
                try await self.beginAnew(reading, after: expirations)
            }
        }
    }

    private mutating func fetchZone(
        _ zone: CKRecordZone.ID,
        _ reading: Reading,
        isNew: Bool
    ) async throws {
        let database = self.container.database(with: reading.feed.scope)
        var matching = self.state.matching(reading)
        // The records that came since the feed started again: it does not report deletions.
        var found: Set<CKRecord.ID>?
        var (moreComing, expirations) = (true, 0)
        while moreComing {
            let token = self.state[reading]
            do {
                let page = try await self.link.ask {
                    try await database.recordZoneChanges(inZoneWith: zone, since: token)
                }
                for record in try page.modificationResultsByID.values.map({ try $0.get().record }).inOrder {
                    found?.insert(record.recordID.withoutZone)
                    guard let change = reading.change(of: record, &matching) else { continue }
                    try await self.tell(change, isNew)
                }
                for deletion in page.deletions {
                    let isOurs = matching.remove(deletion.recordID.withoutZone) != nil
                    guard isOurs || reading.filter == nil else { continue }
                    try await self.tell(.deleted(deletion.recordID, deletion.recordType), isNew)
                }
                if !page.moreComing, let found {
                    let gone = matching.subtracting(found)
                    try await self.tellGone(gone, of: zone, reading, isNew)
                    matching.subtract(gone)
                }
                try self.state.keep(page.changeToken, for: reading, matching: matching)
                moreComing = page.moreComing
            } catch let error as CKError where error.code == .changeTokenExpired && token != nil {
                expirations += 1
                try await self.beginAnew(reading, after: expirations, matching: matching)
                found = []
            } catch let error as CKError where error.code == .zoneNotFound {
                Output.status("zone \(zone.zoneName) does not exist, or not yet")
                try await self.tellGone(matching, of: zone, reading, isNew)
                try self.state.keep(nil, for: reading)
                return
            }
        }
    }

    /// Reports that records which matched a query are gone.
    private func tellGone(
        _ names: Set<CKRecord.ID>,
        of zone: CKRecordZone.ID,
        _ reading: Reading,
        _ isNew: Bool
    ) async throws {
        guard let filter = reading.filter else { return }
        for name in names.map(\.recordName).sorted() {
            let id = CKRecord.ID(recordName: name, zoneID: zone)
            try await self.tell(.deleted(id, filter.recordType), isNew)
        }
    }

    /// Forgets the token of a feed.
    ///
    /// Waits before that if tokens of this fetch have expired, too: a server may never accept its own.
    private mutating func beginAnew(
        _ reading: Reading,
        after expirations: Int,
        matching: Set<CKRecord.ID> = []
    ) async throws {
        let cause = "the token of \(reading.text) has expired"
        if expirations > 1 {
            try await self.link.wait(beforeAttempt: expirations, cause)
        } else {
            Output.status("\(cause): fetching everything in it again")
        }
        try self.state.keep(nil, for: reading, matching: matching)
    }
}

extension Reading {
    /// Returns the change that a saved record is for a reader; `nil` if none.
    ///
    /// The record joins or leaves the records that match the query.
    fileprivate func change(of record: CKRecord, _ matching: inout Set<CKRecord.ID>) -> ChangeLine? {
        guard let filter else { return .saved(record) }
        let name = record.recordID.withoutZone
        if filter.isMet(by: record) {
            matching.insert(name)
            return .saved(record)
        }
        return matching.remove(name).map { _ in .left(record.recordID, record.recordType) }
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
