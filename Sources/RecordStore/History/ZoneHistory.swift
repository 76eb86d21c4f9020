import RecordModel
import StorageContract

/// The history of one zone, in one snapshot.
struct ZoneHistory {
    private let snapshot: any Snapshot
    private let zone: ZoneKey

    /// Finds the zone.
    ///
    /// - Throws: The error of a zone that is absent.
    init(
        of id: ZoneID,
        for requester: Requester,
        in snapshot: any Snapshot
    ) throws(HistoryRefusal) {
        let zone: ZoneKey?
        do throws(StorageFailure) {
            zone = try Access.storedName(of: id, for: requester).flatMap {
                (name) throws(StorageFailure) in
                try snapshot.zone(named: name, in: requester.database)
            }
        } catch {
            throw .storage(error)
        }
        guard let zone else { throw .refused(.missing(id)) }
        self.snapshot = snapshot
        self.zone = zone
    }

    /// The extent of the history; `nil` if the container keeps none.
    func extent() throws(StorageFailure) -> HistoryExtent? {
        guard let database = try self.snapshot.row(DatabaseRow.byKey, self.zone.database),
            let history = try self.snapshot.storedHistories()[database.environment]
        else { return nil }
        var extent = HistoryExtent(
            since: database.position,
            sinceMilliseconds: history.life,
            position: database.position,
            days: history.days
        )
        // Without a row nothing has changed in the zone since the container keeps a history.
        let begin = try self.snapshot.row(PastZoneRow.byKey, self.zone.database, self.zone.number)
        if let begin, begin.life == history.life {
            extent.since = begin.since
            extent.sinceMilliseconds = begin.sinceMilliseconds
        }
        return extent
    }

    /// Changes behind a position, ascending; at most `limit`.
    func changes(after position: Int64, limit: Int) throws(StorageFailure) -> [PastChange] {
        let range = RowRange(PastRow.byKey, self.zone.database, self.zone.number).after(position)
        let rows = try self.snapshot.rows(range, limit: limit)
        let names = try PastNames(of: rows, in: self.snapshot)
        return try rows.map { (row) throws(StorageFailure) in
            PastChange(
                position: row.position,
                milliseconds: row.changedMilliseconds,
                author: try names.author(row.author),
                installation: row.installation ?? [],
                kind: row.kind,
                recordName: row.name,
                recordType: try names.type(row.type),
                before: row.before
            )
        }
    }

    /// Records that the changes at some positions replaced: one element a position, in order; `nil` for a
    /// change that replaced nothing or is too old.
    func records(before positions: [Int64]) throws(StorageFailure) -> [PastRecord?] {
        let keys = positions.map { PastRow.byKey.key(self.zone.database, self.zone.number, $0) }
        let rows = try self.snapshot.rows(PastRow.byKey, keys: keys)
        let names = try PastNames(of: rows.compactMap { $0 }, in: self.snapshot)
        return try rows.map { (row) throws(StorageFailure) in
            guard let row, row.before != nil else { return nil }
            let body = RecordBody(trusted: row.body)
            // To bring back what can be read of it would lose the rest without a word.
            guard body.isIntact else { throw .unexpected(code: 0) }
            return PastRecord(
                name: row.name,
                recordType: try names.type(row.type),
                system: SystemFields(
                    createdMilliseconds: row.createdMilliseconds,
                    modifiedMilliseconds: row.modifiedMilliseconds,
                    createdBy: try names.author(row.creator),
                    modifiedBy: try names.author(row.modifier)
                ),
                parent: row.parent,
                body: body
            )
        }
    }
}

/// Why a history was not read.
enum HistoryRefusal: Error {
    case refused(StoreError)
    case storage(StorageFailure)
}

/// The names of users and record types in rows of a history, each read once.
private struct PastNames {
    private var authors: [Int64: String] = [:]
    private var types: [Int64: String] = [:]

    init(of rows: [PastRow], in reader: any TableReader) throws(StorageFailure) {
        var users: Set<Int64> = []
        for row in rows {
            users.insert(row.author)
            if row.before != nil { users.formUnion([row.creator, row.modifier]) }
        }
        let authors = Array(users)
        for (number, row) in zip(authors, try reader.rows(AuthorRow.byKey, keys: authors)) {
            self.authors[number] = row?.recordName
        }
        let types = Array(Set(rows.map(\.type)))
        for (number, row) in zip(types, try reader.rows(RecordTypeRow.byKey, keys: types)) {
            self.types[number] = row?.name
        }
    }

    func author(_ number: Int64) throws(StorageFailure) -> String {
        guard let name = self.authors[number] else { throw .unexpected(code: 0) }
        return name
    }

    func type(_ number: Int64) throws(StorageFailure) -> String {
        guard let name = self.types[number] else { throw .unexpected(code: 0) }
        return name
    }
}
