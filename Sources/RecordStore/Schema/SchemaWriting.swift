import RecordModel
import StorageContract

/// Replaces the schema in the rows of an environment.
struct SchemaWriting {
    let schema: SchemaRows
    let rows: any IndexWriter

    init(environment: EnvironmentID, rows: any IndexWriter) {
        self.schema = SchemaRows(environment: environment, rows: rows)
        self.rows = rows
    }

    private var environment: EnvironmentID { self.schema.environment }

    /// Writes a schema; nothing that records have may be missing from it.
    func write(_ document: SchemaDocument) throws(StorageFailure) {
        try self.write(roles: document.roles)
        for type in try self.schema.types() where document[type.name] == nil && type.name != UserRecord.type {
            for field in try self.schema.fields(ofType: type.number).values { try self.remove(field) }
            try self.rows.delete(RowRange(TypeGrantRow.byKey, type.number))
        }
        for type in document.recordTypes { try self.write(type) }
    }

    /// Removes the schema of an environment that is deleted; the numbers of its types stay taken.
    func removeAll() throws(StorageFailure) {
        try self.rows.delete(RowRange(RoleRow.byName, self.environment))
        for var type in try self.schema.types() {
            try self.rows.delete(RowRange(TypeGrantRow.byKey, type.number))
            for field in try self.schema.fields(ofType: type.number).values {
                if let index = field.index { try self.rows.delete(RowRange(IndexBuildRow.byKey, index)) }
                try self.rows.delete(field)
            }
            type.name = "-\(type.number)"
            try self.rows.put(type)
        }
    }

    private func write(roles: [String]) throws(StorageFailure) {
        let known = try self.schema.roles()
        for role in known where !roles.contains(role.name) {
            try self.removeFromUsers(role)
            try self.rows.delete(role)
        }
        for name in roles where !known.contains(where: { $0.name == name }) {
            _ = try self.rows.insert(RoleRow(environment: self.environment, name: name))
        }
    }

    private func removeFromUsers(_ role: RoleRow) throws(StorageFailure) {
        var given: [UserRoleRow] = []
        try self.rows.visit(RowRange(UserRoleRow.byKey)) { (row) throws(StorageFailure) in
            if row.role == role.number { given.append(row) }
        }
        for row in given { try self.rows.delete(row) }
    }

    private func write(_ definition: RecordTypeDefinition) throws(StorageFailure) {
        let hasRecords = try self.schema.hasRecords(ofType: definition.name)
        let type = try self.typeNumber(definition.name)
        let known = try self.schema.fields(ofType: type)
        let isUsers = definition.name == UserRecord.type
        let wanted = isUsers ? definition.fields : self.completed(definition.fields)
        let names = Set(wanted.map(\.name))
        for (name, field) in known where !names.contains(name) { try self.remove(field) }
        for field in wanted where field.name != SystemField.allText.rawValue {
            let row = known[field.name]
            let index = try self.index(
                of: row?.index,
                // User records are not for queries, so they have marks and no entries.
                isNeeded: !isUsers && field.needsIndex,
                mayHaveValues: hasRecords && (field.isSystem || row != nil)
            )
            try self.write(field, of: type, over: row, index: index)
        }
        if let field = wanted.first(where: { $0.name == SystemField.allText.rawValue }) {
            let row = known[field.name]
            let index =
                try self.changesTokens(from: known, to: wanted) && hasRecords
                ? try self.rebuiltIndex(in: row?.index) : try self.index(orNew: row?.index)
            try self.write(field, of: type, over: row, index: index)
        }
        try self.rows.delete(RowRange(TypeGrantRow.byKey, type))
        for grant in definition.grants { try self.write(grant, of: type) }
    }

    /// Writes the rights of a role to the records of a type.
    func write(_ grant: Grant, of type: Int64) throws(StorageFailure) {
        let permissions = Int64(grant.permissions.rawValue)
        try self.rows.put(TypeGrantRow(recordType: type, role: grant.role, permissions: permissions))
    }

    /// The number of a type's name, a new one if it has none.
    func typeNumber(_ name: String) throws(StorageFailure) -> Int64 {
        if let known = try self.schema.typeNumber(name) { return known }
        return try self.rows.insert(RecordTypeRow(environment: self.environment, name: name))
    }

    /// The fields of a schema with those of the system that are always maintained, and the full
    /// text if there is any.
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

    /// Whether the full text of an existing record may have other tokens than before.
    private func changesTokens(
        from rows: [String: FieldRow],
        to fields: [FieldDeclaration]
    ) throws(StorageFailure) -> Bool {
        var known: [String: FieldDeclaration] = [:]
        for row in rows.values { known[row.name] = try row.declaration() }
        let kept = fields.filter { !$0.isSystem && known[$0.name] != nil }
        let losesTokens = known.values.contains { field in
            !field.isSystem && field.indexes.contains(.searchable)
                && !kept.contains { $0.name == field.name }
        }
        return losesTokens
            || kept.contains { field in
                field.indexes.contains(.searchable)
                    != known[field.name]?.indexes.contains(.searchable)
            }
    }

    private func write(
        _ field: FieldDeclaration,
        of type: Int64,
        over row: FieldRow?,
        index: Int64?
    ) throws(StorageFailure) {
        var new = FieldRow(field, of: type, index: index)
        guard let row else {
            _ = try self.rows.insert(new)
            return
        }
        guard try row.declaration() != field || row.index != index else { return }
        new.number = row.number
        try self.rows.put(new)
    }

    private func remove(_ field: FieldRow) throws(StorageFailure) {
        if let index = field.index { try self.drop(index) }
        try self.rows.delete(field)
    }

    // MARK: Indexes

    /// The index of a field from now on, given the earlier one.
    private func index(
        of current: Int64?,
        isNeeded: Bool,
        mayHaveValues: Bool
    ) throws(StorageFailure) -> Int64? {
        switch (current, isNeeded) {
        case (let current?, true): return current
        case (nil, false): return nil
        case (nil, true):
            // Without values it is complete as it is.
            return mayHaveValues ? try self.rebuiltIndex(in: nil) : try self.rows.takeIndexNumbers(1)
        case (let current?, false):
            try self.drop(current)
            return nil
        }
    }

    /// An existing index, or a new one that is complete as it is.
    private func index(orNew current: Int64?) throws(StorageFailure) -> Int64 {
        if let current { return current }
        return try self.rows.takeIndexNumbers(1)
    }

    /// A new index that existing records have to be added to, in place of another.
    private func rebuiltIndex(in old: Int64?) throws(StorageFailure) -> Int64 {
        if let old { try self.drop(old) }
        let number = try self.rows.takeIndexNumbers(1)
        try self.rows.put(IndexBuildRow(index: number, nextRecord: 0))
        return number
    }

    private func drop(_ index: Int64) throws(StorageFailure) {
        try self.rows.delete(RowRange(IndexBuildRow.byKey, index))
        try self.rows.put(
            IndexRemovalRow(index: index, database: DatabaseID(rawValue: 0), zoneName: "")
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
