package import RecordModel

/// The schema of one environment: the content of a `.ckdb` file.
///
/// Types, fields, roles and grants are in the order in which they are printed: by name.
package struct SchemaDocument: Hashable, Sendable {
    /// Custom roles.
    ///
    /// The system's roles (`_world`, `_icloud`, `_creator`) always exist.
    package var roles: [String]
    package var recordTypes: [RecordTypeDefinition]

    package init(roles: [String] = [], recordTypes: [RecordTypeDefinition] = []) {
        self.roles = roles
        self.recordTypes = recordTypes
    }
}

/// A record type of a schema.
package struct RecordTypeDefinition: Hashable, Sendable {
    package var name: String
    /// The user's fields, and the system fields that have an index.
    package var fields: [FieldDeclaration]
    package var grants: [Grant]

    package init(name: String, fields: [FieldDeclaration] = [], grants: [Grant] = []) {
        self.name = name
        self.fields = fields
        self.grants = grants
    }
}

/// A field of a record type.
package struct FieldDeclaration: Hashable, Sendable {
    package var name: String
    package var type: DeclaredType
    package var isEncrypted: Bool
    package var indexes: IndexKinds

    package init(name: String, type: DeclaredType, isEncrypted: Bool = false, indexes: IndexKinds = []) {
        self.name = name
        self.type = type
        self.isEncrypted = isEncrypted
        self.indexes = indexes
    }
}

/// A type in any spelling that a schema permits.
package enum DeclaredType: Hashable, Sendable {
    case field(FieldType)
    /// `NUMBER`: integers and doubles in one order. With `PREFERRED AS`, the preferred type.
    case number(preferred: FieldType?)
}

/// The permissions of a role on the records of a type in the public database.
package struct Grant: Hashable, Sendable {
    package var role: String
    package var permissions: Permissions

    package init(role: String, permissions: Permissions) {
        self.role = role
        self.permissions = permissions
    }
}

package struct Permissions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package static let create = Permissions(rawValue: 1 << 0)
    package static let read = Permissions(rawValue: 1 << 1)
    /// Change and delete.
    package static let write = Permissions(rawValue: 1 << 2)

    package init(rawValue: UInt8) { self.rawValue = rawValue }
}
