import RecordModel
import StorageContract

/// Rows of declared tables, and the writer's caches of them.
extension PostgreSQLTransaction: WriteTransaction {
    /// Tables with rows that belong to a database: their first column, also of the key.
    ///
    /// A transaction that reads or writes one has the database locked. All other tables are written
    /// only with the whole store locked, and so do not change while any transaction has a database
    /// locked.
    private static let ofDatabases: Set<ObjectIdentifier> = [
        ObjectIdentifier(RequestRow.table), ObjectIdentifier(PastRow.table),
    ]

    /// Notes that rows must be locked before a table is read or written.
    ///
    /// `databases` are the values of the first column; a missing one stands for any.
    private func require(
        _ databases: [ColumnValue?],
        of table: Table,
        isWrite: Bool
    ) throws(StorageFailure) {
        guard self.plan.reach == .databases else { return }
        guard Self.ofDatabases.contains(ObjectIdentifier(table)) else {
            if isWrite { try self.requireStore() }
            return
        }
        for database in databases {
            guard case .integer(let number)? = database else { return try self.requireStore() }
            try self.require(DatabaseID(rawValue: number))
        }
    }

    /// The database of a range; `nil` if the range is not limited to one.
    private static func database(of range: TableRange) -> ColumnValue? {
        range.index.order.first == 0 ? range.prefix.first : nil
    }

    private func concern(_ table: Table, isDeletion: Bool) {
        self.isChanged = true
        switch TableConcern.all[ObjectIdentifier(table)] {
        case .types?:
            self.knowledge.forgetTypes()
            self.changesSchema = true
        case .names?:
            self.knowledge.forgetTypes()
            self.knowledge.typeNumbers = [:]
            self.knowledge.authorNumbers = [:]
            self.changesSchema = true
        case .zones?: self.knowledge.zones = [:]
        case .databases?:
            self.forgetLockedPositions()
            self.knowledge.forgetUsage()
        case .work(let kind)?:
            if !isDeletion { self.knowledge.possibleWork.insert(kind) }
            if !isDeletion, kind == .views { self.leavesViews = true }
            // A cached type includes the state of its index builds.
            if kind == .indexes {
                self.knowledge.forgetTypes()
                self.changesSchema = true
            }
        case nil: break
        }
    }

    // MARK: Reading

    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        let isByDatabase = index.columns.first == 0
        try self.require(keys.map { isByDatabase ? $0.first : nil }, of: table, isWrite: false)
        if table === RequestRow.table, keys.count == 1, self.outcomes.isAbsent(keys[0]) { return [nil] }
        return try self.tables.rows(of: table, by: index, keys: keys)
    }

    func rows(
        of table: Table,
        in range: TableRange,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        try self.require([Self.database(of: range)], of: table, isWrite: false)
        return try self.tables.rows(of: table, in: range, limit: limit)
    }

    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        try self.require([Self.database(of: range)], of: table, isWrite: false)
        return try self.tables.count(of: table, in: range, limit: limit)
    }

    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        func key(_ name: String) -> WriterKnowledge.TypeName {
            WriterKnowledge.TypeName(environment: environment, name: name)
        }
        let unknown = names.filter { self.knowledge.types[key($0)] == nil }
        if !unknown.isEmpty {
            let found = try StoredType.types(named: unknown, in: environment, from: self.tables)
            for (name, type) in zip(unknown, found) {
                if let type { self.knowledge.types[key(name)] = type }
            }
        }
        return names.map { self.knowledge.types[key($0)] }
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        try self.requireStore()
        return try self.connection.hasEntries(ofIndex: index, in: environment)
    }

    // MARK: Writing

    @discardableResult
    func put(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Int64] {
        try self.require(rows.map(\.first), of: table, isWrite: true)
        self.workDone += rows.count
        self.concern(table, isDeletion: false)
        guard table.numbering != .none else {
            for row in rows {
                if table === RequestRow.table, self.outcomes.isAbsent(row) {
                    self.deferred.put(outcome: row)
                } else {
                    try self.tables.put(row, in: table)
                }
            }
            if table === RequestRow.table { self.outcomes.note(rows) }
            return []
        }
        var last = try self.lastNumber(of: table)
        let before = last
        var numbers: [Int64] = []
        for var row in rows {
            if case .integer(let number) = row[0] {
                last = max(last, number)
            } else {
                last += 1
                row[0] = .integer(last)
                numbers.append(last)
            }
            try self.tables.put(row, in: table)
        }
        if last != before {
            try self.connection.write(Self.setNumber, [.text(table.name), .integer(last)])
            self.knowledge.numbers[table.name] = last
        }
        return numbers
    }

    private static let number = SQL(
        "SELECT value FROM tidemark.counter WHERE name = $1",
        reach: .directory
    )
    private static let setNumber = SQL(
        """
        INSERT INTO tidemark.counter (name, value) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value
        """,
        reach: .directory
    )

    /// The last number assigned in a table; no number is reused.
    private func lastNumber(of table: Table) throws(StorageFailure) -> Int64 {
        if let known = self.knowledge.numbers[table.name] { return known }
        let rows = try self.connection.rows(Self.number, [.text(table.name)])
        let number = rows.isEmpty ? 0 : rows.integer(0, 0)
        self.knowledge.numbers[table.name] = number
        return number
    }

    func delete(keys: [[ColumnValue]], from table: Table) throws(StorageFailure) {
        try self.require(keys.map(\.first), of: table, isWrite: true)
        self.workDone += keys.count
        self.concern(table, isDeletion: true)
        for key in keys { try self.tables.delete(key: key, from: table) }
    }

    func delete(from table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        try self.require([Self.database(of: range)], of: table, isWrite: true)
        self.concern(table, isDeletion: true)
        return try self.tables.delete(from: table, in: range, limit: limit)
    }

    // MARK: Numbers of names

    /// The number of a type's name, whether the schema has the type or not.
    func number(ofType type: String, in environment: EnvironmentID) throws(StorageFailure) -> Int64 {
        let name = WriterKnowledge.TypeName(environment: environment, name: type)
        if let known = self.knowledge.typeNumbers[name] { return known }
        let table = RecordTypeRow.table
        let key: [ColumnValue] = [.integer(environment.rawValue), .text(type)]
        let index = table.indexes[1]
        if let row = try self.tables.rows(of: table, by: index, keys: [key])[0],
            case .integer(let number) = row[0]
        {
            self.knowledge.typeNumbers[name] = number
            return number
        }
        return try self.put([[.null] + key], in: table)[0]
    }

    func number(ofAuthor recordName: String) throws(StorageFailure) -> Int64 {
        if let known = self.knowledge.authorNumbers[recordName] { return known }
        let table = AuthorRow.table
        let key: [ColumnValue] = [.text(recordName)]
        if let row = try self.tables.rows(of: table, by: table.indexes[1], keys: [key])[0],
            case .integer(let number) = row[0]
        {
            self.knowledge.authorNumbers[recordName] = number
            return number
        }
        return try self.put([[.null] + key], in: table)[0]
    }
}
