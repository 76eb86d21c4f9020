import GRDB
import GRDBSQLite
import RecordModel
import RecordStore

/// The schema of one environment in the tables `record_type`, `field`, `role` and `type_grant`.
///
/// A record type is there when its `___recordID` is: the row in `record_type` is only a number for its name and stays when the
/// type goes, because tombstones name it. The type of user records is always there.
struct SchemaRows {
    let environment: EnvironmentID
    let database: Database

    /// A field as it is stored.
    struct FieldRow {
        let number: Int64
        var declaration: FieldDeclaration
        var index: Int64?
    }

    /// The schema, without the completion that `SchemaRules` knows.
    func document() throws -> SchemaDocument {
        let types = try Row.fetchAll(
            self.database,
            sql: "SELECT number, name FROM record_type WHERE environment = ?",
            arguments: [self.environment.rawValue]
        )
        var document = SchemaDocument(roles: try self.roleNames())
        for type in types {
            let name: String = type[1]
            let fields = try self.fields(ofType: type[0])
            let isUsers = name == UserRecord.type
            guard isUsers || fields[SystemField.recordID.rawValue] != nil else { continue }
            let declarations = fields.values.map(\.declaration).filter {
                guard $0.isSystem else { return true }
                return !$0.indexes.isEmpty && SystemField.inSchemas.map(\.rawValue).contains($0.name)
            }
            let grants = SchemaRules.grantsInForce(try self.grants(ofType: type[0]), ofType: name)
            document.recordTypes.append(
                RecordTypeDefinition(name: name, fields: declarations, grants: grants)
            )
        }
        return document.canonical
    }

    private func roleNames() throws -> [String] {
        try String.fetchAll(
            self.database,
            sql: "SELECT name FROM role WHERE environment = ?",
            arguments: [self.environment.rawValue]
        )
    }

    private func grants(ofType type: Int64) throws -> [Grant] {
        try Row.fetchAll(
            self.database,
            sql: "SELECT role, permissions FROM type_grant WHERE record_type = ?",
            arguments: [type]
        ).map { Grant(role: $0[0], permissions: Permissions(rawValue: $0[1])) }
    }

    /// Every field of a type that has a row, those of the system included, by name.
    func fields(ofType type: Int64) throws -> [String: FieldRow] {
        let rows = try Row.fetchAll(
            self.database,
            sql: """
                SELECT number, name, type, is_encrypted, declared, indexes, index_number FROM field
                WHERE record_type = ?
                """,
            arguments: [type]
        )
        var fields: [String: FieldRow] = [:]
        for row in rows {
            guard let type = FieldColumn.declaredType(type: row[2], declared: row[4]) else {
                throw StorageFailure.unexpected(code: SQLITE_MISMATCH)
            }
            let declaration = FieldDeclaration(
                name: row[1],
                type: type,
                isEncrypted: row[3],
                indexes: IndexKinds(rawValue: row[5])
            )
            fields[declaration.name] = FieldRow(number: row[0], declaration: declaration, index: row[6])
        }
        return fields
    }

    /// The number that stands for a type's name; `nil`: no record of that type was ever saved or declared.
    func typeNumber(_ name: String) throws -> Int64? {
        try Int64.fetchOne(
            self.database,
            sql: "SELECT number FROM record_type WHERE environment = ? AND name = ?",
            arguments: [self.environment.rawValue, name]
        )
    }

    /// Whether any zone of the environment has a record of a type, or may have: the index that tells is being built.
    func hasRecords(ofType name: String) throws -> Bool {
        if name == UserRecord.type { return true }
        guard let type = try self.typeNumber(name),
            let index = try self.fields(ofType: type)[SystemField.recordID.rawValue]?.index
        else { return false }
        return try Bool.fetchOne(
            self.database,
            sql: """
                SELECT EXISTS (SELECT 1 FROM index_build WHERE index_number = ?1) OR EXISTS (
                    SELECT 1 FROM database
                    JOIN zone ON zone.database = database.number
                    JOIN entry ON entry.database = zone.database AND entry.zone = zone.number
                        AND entry.field = ?1
                    WHERE database.environment = ?2)
                """,
            arguments: [index, self.environment.rawValue]
        ) ?? false
    }
}
