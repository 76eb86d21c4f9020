import RecordModel
package import StorageContract

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
