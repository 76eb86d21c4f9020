package import RecordModel
package import RecordStore
package import StorageContract

/// The history of a zone of a database, as an operation reads it.
package struct ZonePast: Sendable {
    /// Changes that are read together: a body takes up to a mebibyte.
    package static let changesMax = 32

    /// With the right to read all of it.
    package let database: AdministeredDatabase
    /// With the user who is the modifier of what is written.
    package let writer: AdministeredDatabase
    package let zone: ZoneID
    package let extent: HistoryExtent
    package let names: AccountNames

    /// Opens the history.
    ///
    /// - Throws: `HistoryError` if there is no zone, or the container keeps no history.
    package init(_ zone: ZoneID, of database: AdministeredDatabase, _ container: String) async throws {
        self.writer = database
        var database = database
        // Grants of a public database are about what clients see.
        if database.requester.scope == .public { database.requester.isOperator = true }
        guard let extent = try await Self.extent(of: zone, in: database) else {
            throw HistoryError.isNotKept(container: container)
        }
        self.database = database
        self.zone = zone
        self.extent = extent
        self.names = try AccountNames(of: AdministeredContainer(container, in: database.store))
    }

    private static func extent(
        of zone: ZoneID,
        in database: AdministeredDatabase
    ) async throws -> HistoryExtent? {
        do {
            return try await database.retrying {
                await withCheckedContinuation { continuation in
                    database.store.historyExtent(of: zone, for: database.requester) {
                        continuation.resume(returning: $0)
                    }
                }
            }
        } catch let error as StoreError {
            throw HistoryError.zone(zone, error)
        }
    }

    /// The current position of the database.
    package func position() async throws -> Int64 {
        try await Self.extent(of: self.zone, in: self.database)?.position ?? self.extent.position
    }

    /// Calls a function with each change after a position, up to the database's position at the beginning.
    package func forEachChange(after position: Int64, _ body: (PastChange) throws -> Void) async throws {
        var last = position
        while true {
            let after = last
            let page = try await self.database.retrying {
                await withCheckedContinuation { continuation in
                    self.database.store.pastChanges(
                        of: self.zone,
                        after: after,
                        limit: Self.changesMax,
                        for: self.database.requester
                    ) { continuation.resume(returning: $0) }
                }
            }
            for change in page where change.position <= self.extent.position { try body(change) }
            guard let end = page.last, end.position < self.extent.position else { return }
            last = end.position
        }
    }

    /// Records that the changes at some positions replaced, at most `changesMax`: one element a position,
    /// in order.
    package func records(before positions: [Int64]) async throws -> [PastRecord?] {
        try await self.database.retrying {
            await withCheckedContinuation { continuation in
                self.database.store.pastRecords(
                    of: self.zone,
                    before: positions,
                    for: self.database.requester
                ) { continuation.resume(returning: $0) }
            }
        }
    }

    // MARK: Plans

    /// Finds what an undo concerns.
    ///
    /// - Throws: `HistoryError` if the history does not go back so far.
    package func plan(to point: PointInTime, by author: ChangeAuthor?) async throws -> UndoPlan {
        var begin = self.extent.since
        switch point {
        case .position(let position):
            guard position >= self.extent.since else { throw self.isTooOld(point) }
            begin = position
        case .milliseconds(let time):
            guard time >= self.extent.sinceMilliseconds else { throw self.isTooOld(point) }
        }
        var plan = UndoPlan(to: point.target, by: author)
        try await self.forEachChange(after: begin) { plan.add($0) }
        return plan
    }

    private func isTooOld(_ point: PointInTime) -> HistoryError {
        .doesNotReach(point, zone: self.zone, beginning: self.extent)
    }
}

/// Why the past of a zone is not available.
package enum HistoryError: Error, Hashable, Sendable {
    case isNotKept(container: String)
    /// There is no such zone, or its history cannot be read.
    case zone(ZoneID, StoreError)
    /// The history begins later.
    case doesNotReach(PointInTime, zone: ZoneID, beginning: HistoryExtent)
    /// The earlier state of the record has become too old meanwhile.
    case isGone(record: String)
    /// A record cannot be read as it is now.
    case record(String, StoreError)
}
