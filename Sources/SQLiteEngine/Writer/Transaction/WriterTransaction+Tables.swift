import StorageContract

/// Rows of declared tables.
extension WriterTransaction: RowReader {
    /// The effect of a table's changes beyond the table itself.
    private enum Concern {
        /// The writer caches record types, which are built from the table; with `isNamed` also
        /// their numbers.
        case types(isNamed: Bool)
        /// The writer caches record types, with the state of their index builds.
        case builds
        /// The writer caches the keys of zones by name.
        case zones
        /// Shared databases must be updated.
        case views
        /// The sweep has work.
        case sweep
        /// A request may write thousands of its rows: the cost of each.
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

    /// Drops cached record types that are about to change.
    private func forgetTypes(isNamed: Bool, rows: Int) {
        // Rows of schemas have several indexes, and cached types must be read again.
        self.meter.done += 3 * rows
        self.names.forgetTypes()
        if isNamed { self.forgetKnown() }
    }

    /// Drops cached record types if an index build begins.
    ///
    /// Types do not change while a build continues.
    private func forgetTypes(building rows: [[ColumnValue]]) throws(StorageFailure) {
        let table = IndexBuildRow.table
        let known = try self.tables.rows(of: table, by: table.key, keys: rows.map { table.key(of: $0) })
        guard known.contains(where: { $0 == nil }) else { return }
        self.forgetTypes(isNamed: false, rows: rows.count)
    }

    /// Drops cached zones that are about to change, by the keys of their rows.
    private func forgetZones(_ keys: [[ColumnValue]]) {
        for key in keys {
            guard case .integer(let database) = key[0], case .text(let name) = key[1] else { continue }
            self.zones.forget(named: name, in: DatabaseID(rawValue: database))
        }
    }
}
