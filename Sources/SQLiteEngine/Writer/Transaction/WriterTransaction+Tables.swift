import RecordStore

/// Rows of declared tables.
extension WriterTransaction: RowReader {
    /// The concern of a change of a table, beside the table itself.
    private enum Concern {
        /// The writer knows record types, which are made of it; with `isNamed` also their numbers.
        case types(isNamed: Bool)
        /// The writer knows record types, with which of their indexes are being built.
        case builds
        /// The writer knows where zones are, by their names.
        case zones
        /// Shared databases have to follow.
        case views
        /// The sweep has work.
        case sweep
        /// A request may write thousands of rows of it: what each of them counts for.
        case work(Int)
    }

    private static let concerns: [ObjectIdentifier: Concern] = [
        ObjectIdentifier(RecordTypeRow.table): .types(isNamed: true),
        ObjectIdentifier(FieldRow.table): .types(isNamed: false),
        ObjectIdentifier(TypeGrantRow.table): .types(isNamed: false),
        ObjectIdentifier(IndexBuildRow.table): .builds, ObjectIdentifier(ZoneRow.table): .zones,
        ObjectIdentifier(ViewRefreshRow.table): .views, ObjectIdentifier(ShareNewsRow.table): .views,
        ObjectIdentifier(ShareRemovalRow.table): .sweep, ObjectIdentifier(PastRemovalRow.table): .sweep,
        ObjectIdentifier(SweepRow.table): .sweep, ObjectIdentifier(MembershipRow.table): .work(1),
        ObjectIdentifier(MembershipChangeRow.table): .work(2), ObjectIdentifier(PastRow.table): .work(1),
    ]

    @discardableResult
    func put(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Int64] {
        switch Self.concerns[ObjectIdentifier(table)] {
        case .types(let isNamed): self.forgetTypes(isNamed: isNamed, rows: rows.count)
        case .builds: try self.forgetTypes(building: rows)
        case .zones: self.forgetZones(rows.map { table.key(of: $0) })
        case .views: self.work.mayBeViews = true
        case .sweep: self.work.mayBeSweeps = true
        case .work(let each): self.meter.done += each * rows.count
        case nil: break
        }
        return try self.tables.put(rows, in: table)
    }

    func delete(keys: [[ColumnValue]], from table: Table) throws(StorageFailure) {
        switch Self.concerns[ObjectIdentifier(table)] {
        case .types(let isNamed): self.forgetTypes(isNamed: isNamed, rows: keys.count)
        case .builds: self.forgetTypes(isNamed: false, rows: keys.count)
        case .zones: self.forgetZones(keys)
        case .work(let each): self.meter.done += each * keys.count
        case .views, .sweep, nil: break
        }
        try self.tables.delete(keys: keys, from: table)
    }

    func delete(from table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        switch Self.concerns[ObjectIdentifier(table)] {
        case .types(let isNamed): self.forgetTypes(isNamed: isNamed, rows: 1)
        case .builds: self.forgetTypes(isNamed: false, rows: 1)
        case .zones: self.forgetKnown()
        case .views, .sweep, .work, nil: break
        }
        return try self.tables.delete(from: table, in: range, limit: limit)
    }

    /// Drops what is in memory of record types that are about to change.
    private func forgetTypes(isNamed: Bool, rows: Int) {
        // Rows of schemas have several indexes, and what is known of types has to be read again.
        self.meter.done += 3 * rows
        self.names.forgetTypes()
        if isNamed { self.forgetKnown() }
    }

    /// Drops what is in memory of record types if an index begins to be built.
    ///
    /// Types stay as they are while one that was begun goes on.
    private func forgetTypes(building rows: [[ColumnValue]]) throws(StorageFailure) {
        let table = IndexBuildRow.table
        let known = try self.tables.rows(of: table, by: table.key, keys: rows.map { table.key(of: $0) })
        guard known.contains(where: { $0 == nil }) else { return }
        self.forgetTypes(isNamed: false, rows: rows.count)
    }

    /// Drops what is in memory of zones that are about to change, by the keys of their rows.
    private func forgetZones(_ keys: [[ColumnValue]]) {
        for key in keys {
            guard case .integer(let database) = key[0], case .text(let name) = key[1] else { continue }
            self.zones.forget(named: name, in: DatabaseID(rawValue: database))
        }
    }
}
