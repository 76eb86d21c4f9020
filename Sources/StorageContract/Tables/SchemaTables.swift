import RecordModel

/// A custom role of an environment.
package struct RoleRow: TableRow {
    package static let table = Table(
        "role",
        columns: [.integer("number"), .integer("environment"), .text("name")],
        key: ["number"],
        numbering: .numbered,
        indexes: [.unique("environment", "name")]
    )
    package static let byName = Self.index(on: "environment", "name")

    package var number: Int64 = 0
    package var environment: EnvironmentID
    package var name: String

    package init(environment: EnvironmentID, name: String) {
        self.environment = environment
        self.name = name
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.number = try columns.next()
        self.environment = try columns.next()
        self.name = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.number)
        columns.append(self.environment)
        columns.append(self.name)
    }
}

/// A custom role that a user has.
package struct UserRoleRow: TableRow {
    package static let table = Table(
        "user_role",
        columns: [.integer("user"), .integer("role")],
        key: ["user", "role"]
    )

    package var user: UserNumber
    package var role: Int64

    package init(user: UserNumber, role: Int64) {
        self.user = user
        self.role = role
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.user = try columns.next()
        self.role = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.user)
        columns.append(self.role)
    }
}

/// The number of a record type's name, whether the schema has the type or not.
package struct RecordTypeRow: TableRow {
    package static let table = Table(
        "record_type",
        columns: [.integer("number"), .integer("environment"), .text("name")],
        key: ["number"],
        numbering: .numbered,
        indexes: [.unique("environment", "name")]
    )
    package static let byName = Self.index(on: "environment", "name")

    package var number: Int64 = 0
    package var environment: EnvironmentID
    package var name: String

    package init(environment: EnvironmentID, name: String) {
        self.environment = environment
        self.name = name
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.number = try columns.next()
        self.environment = try columns.next()
        self.name = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.number)
        columns.append(self.environment)
        columns.append(self.name)
    }
}

/// The rights of a role to the records of a type.
package struct TypeGrantRow: TableRow {
    package static let table = Table(
        "type_grant",
        columns: [.integer("record_type"), .text("role"), .integer("permissions")],
        key: ["record_type", "role"]
    )

    package var recordType: Int64
    package var role: String
    /// As `Permissions` has them.
    package var permissions: Int64

    package init(recordType: Int64, role: String, permissions: Int64) {
        self.recordType = recordType
        self.role = role
        self.permissions = permissions
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.recordType = try columns.next()
        self.role = try columns.next()
        self.permissions = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.recordType)
        columns.append(self.role)
        columns.append(self.permissions)
    }
}

/// A field of a record type, those of the system included.
package struct FieldRow: TableRow {
    package static let table = Table(
        "field",
        columns: [
            .integer("number"), .integer("record_type"), .text("name"), .integer("type"),
            .integer("is_encrypted"), .integer("declared"), .integer("indexes"),
            .optional(.integer("index_number")),
        ],
        key: ["number"],
        numbering: .numbered,
        indexes: [.unique("record_type", "name")]
    )
    package static let byName = Self.index(on: "record_type", "name")

    package var number: Int64 = 0
    package var recordType: Int64
    package var name: String
    /// The type of the values; `FieldColumn` reads it.
    package var type: Int64
    package var isEncrypted: Bool
    /// How a schema spells the type.
    package var declared: Int64
    /// As `IndexKinds` has them.
    package var indexes: Int64
    /// The number of its index.
    package var index: Int64?

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.number = try columns.next()
        self.recordType = try columns.next()
        self.name = try columns.next()
        self.type = try columns.next()
        self.isEncrypted = try columns.next()
        self.declared = try columns.next()
        self.indexes = try columns.next()
        self.index = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.number)
        columns.append(self.recordType)
        columns.append(self.name)
        columns.append(self.type)
        columns.append(self.isEncrypted)
        columns.append(self.declared)
        columns.append(self.indexes)
        columns.append(self.index)
    }

    package init(_ declaration: FieldDeclaration, of recordType: Int64, index: Int64?) {
        let columns = FieldColumn.columns(of: declaration.type)
        self.recordType = recordType
        self.name = declaration.name
        self.type = columns.type
        self.isEncrypted = declaration.isEncrypted
        self.declared = columns.declared
        self.indexes = Int64(declaration.indexes.rawValue)
        self.index = index
    }

    /// A field that a save defines.
    package init(_ definition: FieldDefinition, named name: String, of recordType: Int64) {
        let columns = FieldColumn.columns(of: .field(definition.type))
        self.recordType = recordType
        self.name = name
        self.type = columns.type
        self.isEncrypted = definition.isEncrypted
        self.declared = columns.declared
        self.indexes = Int64(definition.indexes.rawValue)
        self.index = definition.index
    }

    /// - Throws: `unexpected` if no version wrote such a type.
    package func definition() throws(StorageFailure) -> FieldDefinition {
        guard let type = FieldType(rawValue: UInt8(truncatingIfNeeded: self.type)) else {
            throw .unexpected(code: 0)
        }
        return FieldDefinition(
            type: type,
            isNumber: FieldColumn.isNumber(declared: self.declared),
            isEncrypted: self.isEncrypted,
            indexes: IndexKinds(rawValue: UInt8(truncatingIfNeeded: self.indexes)),
            index: self.index
        )
    }

    /// - Throws: `unexpected` if no version wrote such a type.
    package func declaration() throws(StorageFailure) -> FieldDeclaration {
        guard let type = FieldColumn.declaredType(type: self.type, declared: self.declared) else {
            throw .unexpected(code: 0)
        }
        return FieldDeclaration(
            name: self.name,
            type: type,
            isEncrypted: self.isEncrypted,
            indexes: IndexKinds(rawValue: UInt8(truncatingIfNeeded: self.indexes))
        )
    }
}

/// An index that is not complete yet.
package struct IndexBuildRow: TableRow {
    package static let table = Table(
        "index_build",
        columns: [.integer("index_number"), .integer("next_record")],
        key: ["index_number"]
    )

    package var index: Int64
    /// Records below it have their entries.
    package var nextRecord: Int64

    package init(index: Int64, nextRecord: Int64) {
        self.index = index
        self.nextRecord = nextRecord
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.index = try columns.next()
        self.nextRecord = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.index)
        columns.append(self.nextRecord)
    }
}

/// An index that was dropped, and has entries left.
package struct IndexRemovalRow: TableRow {
    package static let table = Table(
        "index_removal",
        columns: [.integer("index_number"), .integer("database"), .text("zone_name")],
        key: ["index_number"]
    )

    package var index: Int64
    /// Entries of zones before this database and zone name are gone.
    package var database: DatabaseID
    package var zoneName: String

    package init(index: Int64, database: DatabaseID, zoneName: String) {
        self.index = index
        self.database = database
        self.zoneName = zoneName
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.index = try columns.next()
        self.database = try columns.next()
        self.zoneName = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.index)
        columns.append(self.database)
        columns.append(self.zoneName)
    }
}
