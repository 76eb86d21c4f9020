import RecordModel
import RecordStore

/// The history of a zone of a database, as a command reads it.
struct ZonePast {
    /// Changes that are read together: a body takes up to a mebibyte.
    static let changesMax = 32

    /// With the right to read all of it.
    let database: AdministeredDatabase
    /// With the user who is the modifier of what is written.
    let writer: AdministeredDatabase
    let zone: ZoneID
    let extent: HistoryExtent
    let names: AccountNames

    /// Opens the history.
    ///
    /// - Throws: `data` if there is no zone, or the container keeps no history.
    init(_ database: AdministeredDatabase, _ options: HistoryOptions) async throws {
        self.writer = database
        var database = database
        // Grants of a public database are about what clients see.
        if database.requester.scope == .public { database.requester.isOperator = true }
        let zone = options.zoneID
        guard let extent = try await Self.extent(of: zone, in: database) else {
            let container = options.records.container
            throw CommandFailure(
                .data,
                "\(container) keeps no history, so nothing of before can be told. From now on: "
                    + "tidemark container history \(container) --days 30"
            )
        }
        self.database = database
        self.zone = zone
        self.extent = extent
        self.names = try AccountNames(
            ofContainer: options.records.container,
            in: database.store.directory
        )
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
            throw RecordAdvice.failure(error, doing: "the zone '\(zone.zoneName)' has no history")
        }
    }

    /// The current position of the database.
    func position() async throws -> Int64 {
        try await Self.extent(of: self.zone, in: self.database)?.position ?? self.extent.position
    }

    /// Calls a function with each change behind a position, up to where the database was at the beginning.
    func forEachChange(after position: Int64, _ body: (PastChange) throws -> Void) async throws {
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
    func records(before positions: [Int64]) async throws -> [PastRecord?] {
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
    /// - Throws: `data` if the history does not go back so far.
    func plan(to point: PointInTime, by author: ChangeAuthor?) async throws -> UndoPlan {
        var begin = self.extent.since
        switch point {
        case .position(let position):
            guard position >= self.extent.since else { throw self.isTooOld("the position \(position)") }
            begin = position
        case .milliseconds(let time):
            guard time >= self.extent.sinceMilliseconds else { throw self.isTooOld(time.timeText) }
        }
        var plan = UndoPlan(to: point.target, by: author)
        try await self.forEachChange(after: begin) { plan.add($0) }
        return plan
    }

    private func isTooOld(_ point: String) -> CommandFailure {
        CommandFailure(
            .data,
            "the history of the zone '\(self.zone.zoneName)' does not go back to \(point). It begins at "
                + "\(self.extent.sinceMilliseconds.timeText), at the position \(self.extent.since): "
                + "name a time or a position from there on, or restore a backup: tidemark restore --help"
        )
    }
}
