import GRDB
import RecordModel
import RecordStore

extension SchemaRows {
    /// Puts a schema in place of what is there; nothing that records have may be missing from it.
    func write(_ document: SchemaDocument, _ transaction: WriterTransaction) throws {
        try self.writeRoles(document.roles)
        let known = try String.fetchAll(
            self.database,
            sql: "SELECT name FROM record_type WHERE environment = ?",
            arguments: [self.environment.rawValue]
        )
        for name in known where document[name] == nil && name != UserRecord.type {
            try self.remove(typeNamed: name)
        }
        for type in document.recordTypes { try self.write(type, transaction) }
        // What it keeps in memory was true until now.
        transaction.caches.forgetNames()
    }

    private func writeRoles(_ roles: [String]) throws {
        let known = try Row.fetchAll(
            self.database,
            sql: "SELECT number, name FROM role WHERE environment = ?",
            arguments: [self.environment.rawValue]
        )
        for row in known where !roles.contains(row[1]) {
            let number: Int64 = row[0]
            try self.database.execute(sql: "DELETE FROM user_role WHERE role = ?", arguments: [number])
            try self.database.execute(sql: "DELETE FROM role WHERE number = ?", arguments: [number])
        }
        for role in roles {
            try self.database.execute(
                sql: "INSERT OR IGNORE INTO role (environment, name) VALUES (?, ?)",
                arguments: [self.environment.rawValue, role]
            )
        }
    }

    private func remove(typeNamed name: String) throws {
        guard let type = try self.typeNumber(name) else { return }
        for field in try self.fields(ofType: type).values { try self.remove(field) }
        try self.database.execute(sql: "DELETE FROM type_grant WHERE record_type = ?", arguments: [type])
    }

    private func write(_ definition: RecordTypeDefinition, _ transaction: WriterTransaction) throws {
        let hasRecords = try self.hasRecords(ofType: definition.name)
        let type = try transaction.typeNumber(definition.name, in: self.environment)
        let rows = try self.fields(ofType: type)
        let isUsers = definition.name == UserRecord.type
        let wanted = isUsers ? definition.fields : self.completed(definition.fields)
        let names = Set(wanted.map(\.name))
        for (name, row) in rows where !names.contains(name) { try self.remove(row) }
        for field in wanted where field.name != SystemField.allText.rawValue {
            // User records are not for queries, so they have marks and no entries.
            let needsIndex = !isUsers && field.needsIndex
            let row = rows[field.name]
            let mayHaveValues = hasRecords && (field.isSystem || row != nil)
            let index = try self.index(
                of: row?.index,
                isNeeded: needsIndex,
                mayHaveValues: mayHaveValues,
                transaction
            )
            try self.write(field, of: type, over: row, index: index)
        }
        if let field = wanted.first(where: { $0.name == SystemField.allText.rawValue }) {
            let row = rows[field.name]
            let index =
                hasRecords && self.changesTokens(from: rows, to: wanted)
                ? try self.rebuiltIndex(in: row?.index, transaction)
                : try row?.index ?? transaction.takeIndexNumber()
            try self.write(field, of: type, over: row, index: index)
        }
        try self.database.execute(sql: "DELETE FROM type_grant WHERE record_type = ?", arguments: [type])
        for grant in definition.grants {
            try self.database.execute(
                sql: "INSERT INTO type_grant (record_type, role, permissions) VALUES (?, ?, ?)",
                arguments: [type, grant.role, Int64(grant.permissions.rawValue)]
            )
        }
    }

    /// The fields of a schema with those of the system that are always maintained, and the full text if there is any.
    private func completed(_ fields: [FieldDeclaration]) -> [FieldDeclaration] {
        var fields = fields
        if !fields.contains(where: { $0.name == SystemField.recordID.rawValue }) {
            fields.append(FieldDeclaration(.recordID))
        }
        fields.append(FieldDeclaration(.parent, indexes: .justInTime(for: .parent)))
        if fields.contains(where: { $0.indexes.contains(.searchable) }) {
            fields.append(FieldDeclaration(.allText, indexes: .searchable))
        }
        return fields
    }

    /// Whether the full text of a record that is there may have other tokens than before.
    private func changesTokens(from rows: [String: FieldRow], to fields: [FieldDeclaration]) -> Bool {
        let kept = fields.filter { !$0.isSystem && rows[$0.name] != nil }
        let lost = rows.values.contains { row in
            !row.declaration.isSystem && row.declaration.indexes.contains(.searchable)
                && !kept.contains { $0.name == row.declaration.name }
        }
        return lost
            || kept.contains { field in
                field.indexes.contains(.searchable)
                    != rows[field.name]?.declaration.indexes.contains(.searchable)
            }
    }

    private func write(
        _ field: FieldDeclaration,
        of type: Int64,
        over row: FieldRow?,
        index: Int64?
    ) throws {
        if let row, row.declaration == field, row.index == index { return }
        let columns = FieldColumn.columns(of: field.type)
        try self.database.execute(
            sql: """
                INSERT INTO field (record_type, name, type, is_encrypted, declared, indexes, index_number)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (record_type, name) DO UPDATE SET type = excluded.type,
                    is_encrypted = excluded.is_encrypted, declared = excluded.declared,
                    indexes = excluded.indexes, index_number = excluded.index_number
                """,
            arguments: [
                type, field.name, columns.type, field.isEncrypted, columns.declared,
                Int64(field.indexes.rawValue), index,
            ]
        )
    }

    private func remove(_ row: FieldRow) throws {
        if let index = row.index { try self.drop(index) }
        try self.database.execute(sql: "DELETE FROM field WHERE number = ?", arguments: [row.number])
    }
}

/// Numbers of indexes: what is filled and what is emptied in the background.
extension SchemaRows {
    /// What a field's index is from now on, given what it was.
    fileprivate func index(
        of current: Int64?,
        isNeeded: Bool,
        mayHaveValues: Bool,
        _ transaction: WriterTransaction
    ) throws -> Int64? {
        switch (current, isNeeded) {
        case (let current?, true): return current
        case (nil, false): return nil
        case (nil, true):
            // Without values it is complete as it is.
            return mayHaveValues
                ? try self.rebuiltIndex(in: nil, transaction) : try transaction.takeIndexNumber()
        case (let current?, false):
            try self.drop(current)
            return nil
        }
    }

    /// A new index that records which are there have to be added to, in place of another.
    fileprivate func rebuiltIndex(in old: Int64?, _ transaction: WriterTransaction) throws -> Int64 {
        if let old { try self.drop(old) }
        let number = try transaction.takeIndexNumber()
        try self.database.execute(
            sql: "INSERT INTO index_build (index_number, next_record) VALUES (?, 0)",
            arguments: [number]
        )
        return number
    }

    fileprivate func drop(_ index: Int64) throws {
        try self.database.execute(sql: "DELETE FROM index_build WHERE index_number = ?", arguments: [index])
        try self.database.execute(
            sql: "INSERT INTO index_removal (index_number, database, zone_name) VALUES (?, 0, '')",
            arguments: [index]
        )
    }
}

extension FieldDeclaration {
    /// Whether values of the field have entries.
    fileprivate var needsIndex: Bool {
        // The type says nothing about it: marks are only where they may be.
        FieldDefinition(type: .string, isEncrypted: self.isEncrypted, indexes: self.indexes)
            .needsIndex(self.name)
    }
}
