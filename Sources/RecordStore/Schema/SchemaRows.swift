import RecordModel
import StorageContract

/// The schema of one environment in its rows.
///
/// A record type is there when its `___recordID` is. The row of the type is only a number for its
/// name and stays when the type goes, because tombstones name it. The type of user records is
/// always there.
struct SchemaRows {
    let environment: EnvironmentID
    let rows: any IndexReader

    /// The schema, with everything that the rows leave to `SchemaRules`.
    func document() throws(StorageFailure) -> SchemaDocument {
        var document = SchemaDocument(roles: try self.roles().map(\.name))
        for type in try self.types() {
            let fields = try self.fields(ofType: type.number)
            let isUsers = type.name == UserRecord.type
            guard isUsers || fields[SystemField.recordID.rawValue] != nil else { continue }
            var declarations: [FieldDeclaration] = []
            for field in fields.values {
                let declaration = try field.declaration()
                let isShown =
                    !declaration.isSystem
                    || !declaration.indexes.isEmpty
                        && SystemField.inSchemas.map(\.rawValue).contains(declaration.name)
                if isShown { declarations.append(declaration) }
            }
            let grants = SchemaRules.grantsInForce(try self.grants(ofType: type.number), ofType: type.name)
            document.recordTypes.append(
                RecordTypeDefinition(name: type.name, fields: declarations, grants: grants)
            )
        }
        return SchemaRules.completed(document.canonical, from: SchemaDocument())
    }

    func types() throws(StorageFailure) -> [RecordTypeRow] {
        try self.rows.rows(RowRange(RecordTypeRow.byName, self.environment))
    }

    func roles() throws(StorageFailure) -> [RoleRow] {
        try self.rows.rows(RowRange(RoleRow.byName, self.environment))
    }

    private func grants(ofType type: Int64) throws(StorageFailure) -> [Grant] {
        try self.rows.rows(RowRange(TypeGrantRow.byKey, type)).map { row in
            let permissions = Permissions(rawValue: UInt8(truncatingIfNeeded: row.permissions))
            return Grant(role: row.role, permissions: permissions)
        }
    }

    /// Every field of a type that has a row, those of the system included, by name.
    func fields(ofType type: Int64) throws(StorageFailure) -> [String: FieldRow] {
        let rows = try self.rows.rows(RowRange(FieldRow.byName, type))
        // A damaged index of the table may give a name twice.
        return Dictionary(rows.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The number of a type's name; `nil` if no record of it was ever saved or declared.
    func typeNumber(_ name: String) throws(StorageFailure) -> Int64? {
        try self.rows.row(RecordTypeRow.byName, self.environment, name)?.number
    }

    /// Counts the types that the schema has, without that of user records.
    func countOfTypes() throws(StorageFailure) -> Int {
        let types = try self.types().filter { $0.name != UserRecord.type }
        return try self.rows.rows(
            of: FieldRow.table,
            by: FieldRow.byName.index,
            keys: types.map { [.integer($0.number), .text(SystemField.recordID.rawValue)] }
        ).count { $0 != nil }
    }

    /// Whether any zone of the environment has a record of a type, or may have: the index that
    /// tells is being built.
    func hasRecords(ofType name: String) throws(StorageFailure) -> Bool {
        if name == UserRecord.type { return true }
        guard let type = try self.typeNumber(name),
            let index = try self.fields(ofType: type)[SystemField.recordID.rawValue]?.index
        else { return false }
        if try self.rows.row(IndexBuildRow.byKey, index) != nil { return true }
        return try self.rows.hasEntries(ofIndex: index, in: self.environment)
    }
}
