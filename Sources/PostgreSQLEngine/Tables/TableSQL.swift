import StorageContract

/// The operation of a statement on a declared table; values that it compares or limits are parameters.
enum TableOperation: Hashable {
    case find(index: Int)
    /// Many keys at once.
    case findAll(index: Int)
    case range(TableShape)
    case count(TableShape)
    case put
    case delete
    case deleteRange(TableShape)
}

/// A range without its values.
struct TableShape: Hashable {
    let index: Int
    let prefix: Int
    let after: Int
    let isDescending: Bool

    init(_ range: TableRange) {
        self.index = range.index.offset
        self.prefix = range.prefix.count
        self.after = range.after.count
        self.isDescending = range.isDescending
    }
}

/// The SQL of a declared table: its definition, and its statements.
struct TableSQL {
    let table: Table

    /// Columns of bytes that may be too long for an entry of an index: the index has their hash.
    private static let longColumns: [String: String] = ["subscription": "definition"]

    // MARK: Names

    private var name: String { "\(Dialect.schema).\"\(self.table.name)\"" }

    private func name(_ column: Int) -> String { "\"\(self.table.columns[column].name)\"" }

    private func names(_ columns: some Sequence<Int>, prefix: String = "") -> String {
        columns.map { prefix + self.name($0) }.joined(separator: ", ")
    }

    private func isLong(_ column: Int) -> Bool {
        Self.longColumns[self.table.name] == self.table.columns[column].name
    }

    private func type(_ column: Int) -> String {
        switch self.table.columns[column].kind {
        case .integer: "bigint"
        case .text: "text"
        case .bytes: "bytea"
        }
    }

    /// Null comes first in the order of every engine.
    private func sorted(_ column: Int, isDescending: Bool = false) -> String {
        let order = isDescending ? " DESC" : ""
        let nulls = isDescending ? " NULLS LAST" : " NULLS FIRST"
        return self.name(column) + order + (self.table.columns[column].isOptional ? nulls : "")
    }

    // MARK: Definition

    /// The statements that make the table.
    ///
    /// Rows that change often have room beside them, so that a new version needs no entry of an index.
    var definition: [String] {
        let columns = self.table.columns.indices.map { column in
            let collation = self.table.columns[column].kind == .text ? " COLLATE \"C\"" : ""
            let isOptional = self.table.columns[column].isOptional
            return "\(self.name(column)) \(self.type(column))\(collation)\(isOptional ? "" : " NOT NULL")"
        }
        let key = self.names(self.table.key.columns)
        let fill = Self.fillFactors[self.table.name].map { " WITH (fillfactor = \($0))" } ?? ""
        let creation = """
            CREATE TABLE \(self.name) (\(columns.joined(separator: ", ")), PRIMARY KEY (\(key)))\(fill)
            """
        return [creation] + self.table.indexes.dropFirst().map { self.definition(of: $0) }
    }

    private static let fillFactors = ["database": 20, "zone": 50, "listener_cursor": 50]

    private func definition(of index: Table.Index) -> String {
        // A unique index that looked at more columns would forbid less.
        let columns = (index.isUnique ? index.columns : index.order).map { column in
            self.isLong(column) ? "sha256(\(self.name(column)))" : self.sorted(column)
        }
        let condition = self.condition(of: index).map { " WHERE \($0)" } ?? ""
        return """
            CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \
            "\(self.table.name)_\(index.offset)" ON \(self.name) \
            (\(columns.joined(separator: ", ")))\(condition)
            """
    }

    /// The rows that an index has.
    private func condition(of index: Table.Index) -> String? {
        index.condition.map { condition in
            condition.value.map { "\(self.name(condition.column)) = \($0)" }
                ?? "\(self.name(condition.column)) IS NOT NULL"
        }
    }

    // MARK: Statements

    func statement(_ operation: TableOperation) -> SQL {
        let all = self.names(self.table.columns.indices)
        switch operation {
        case .find(let offset):
            let index = self.table.indexes[offset]
            let condition = self.condition(index, index.columns.count)
            return self.sql("SELECT \(all) FROM \(self.name) WHERE \(condition)")
        case .findAll(let offset):
            return SQL(self.findAll(self.table.indexes[offset]), reach: .store)
        case .range(let shape): return self.sql("SELECT \(all) \(self.source(shape))")
        case .count(let shape):
            return self.sql("SELECT count(*) FROM (SELECT 1 \(self.source(shape))) AS found")
        case .put: return self.sql(self.put)
        case .delete:
            let condition = self.condition(self.table.key, self.table.key.columns.count)
            return self.sql("DELETE FROM \(self.name) WHERE \(condition)")
        case .deleteRange(let shape):
            let key = self.names(self.table.key.columns)
            return self.sql(
                "DELETE FROM \(self.name) WHERE (\(key)) IN (SELECT \(key) \(self.source(shape)))"
            )
        }
    }

    /// A declared table holds rows of the directory, unless the statement names the database.
    private func sql(_ text: String) -> SQL { SQL(text, reach: .directory) }

    private var put: String {
        let columns = self.table.columns.indices
        let values = columns.map { "$\($0 + 1)" }.joined(separator: ", ")
        let changed = columns.filter { !self.table.key.columns.contains($0) }.map {
            "\(self.name($0)) = excluded.\(self.name($0))"
        }
        let update = changed.isEmpty ? "NOTHING" : "UPDATE SET \(changed.joined(separator: ", "))"
        return """
            INSERT INTO \(self.name) (\(self.names(columns))) VALUES (\(values)) \
            ON CONFLICT (\(self.names(self.table.key.columns))) DO \(update)
            """
    }

    /// Rows by keys in arrays, each with the offset of its key, from 1.
    private func findAll(_ index: Table.Index) -> String {
        let arrays = index.columns.enumerated().map { "$\($0 + 1)::\(self.type($1))[]" }
        let names = index.columns.indices.map { "k\($0)" } + ["ordinal"]
        var conditions = index.columns.enumerated().map { offset, column in
            self.isLong(column)
                ? "sha256(t.\(self.name(column))) = sha256(k\(offset))"
                : "t.\(self.name(column)) = k\(offset)"
        }
        if let condition = index.condition {
            let name = "t.\(self.name(condition.column))"
            conditions.append(condition.value.map { "\(name) = \($0)" } ?? "\(name) IS NOT NULL")
        }
        return """
            SELECT ordinal, \(self.names(self.table.columns.indices, prefix: "t.")) \
            FROM unnest(\(arrays.joined(separator: ", "))) WITH ORDINALITY \
            AS keys(\(names.joined(separator: ", "))) \
            JOIN \(self.name) AS t ON \(conditions.joined(separator: " AND "))
            """
    }

    /// The rows of a range in their order, up to a limit, which is the last parameter.
    private func source(_ shape: TableShape) -> String {
        let index = self.table.indexes[shape.index]
        var conditions = self.condition(index, shape.prefix)
        if shape.after > 0 {
            let columns = index.order[shape.prefix..<shape.prefix + shape.after]
            let values = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
            conditions += " AND (\(self.names(columns))) \(shape.isDescending ? "<" : ">") (\(values))"
        }
        let order = index.order[shape.prefix...].map { self.sorted($0, isDescending: shape.isDescending) }
            .joined(separator: ", ")
        let sort = order.isEmpty ? "" : " ORDER BY \(order)"
        return "FROM \(self.name) WHERE \(conditions)\(sort) LIMIT $\(shape.prefix + shape.after + 1)"
    }

    /// The values of the first columns of an index, and which rows it has.
    private func condition(_ index: Table.Index, _ prefix: Int) -> String {
        var conditions = index.order.prefix(prefix).enumerated().map { offset, column in
            self.isLong(column)
                ? "sha256(\(self.name(column))) = sha256($\(offset + 1))"
                : "\(self.name(column)) = $\(offset + 1)"
        }
        if let condition = self.condition(of: index) { conditions.append(condition) }
        return conditions.isEmpty ? "true" : conditions.joined(separator: " AND ")
    }
}
