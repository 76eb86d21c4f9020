package import RecordModel
package import StorageContract

/// The built-in roles.
package enum SystemRole {
    /// The user who created the record.
    package static let creator = "_creator"
    /// Every signed-in user.
    package static let signedIn = "_icloud"
    /// Everyone.
    package static let world = "_world"

    package static let names: Set<String> = [creator, signedIn, world]
}

extension SystemField {
    /// The system fields that a schema may list, by name.
    package static let inSchemas: [SystemField] = [
        .createTime, .createdBy, .etag, .modTime, .modifiedBy, .recordID,
    ]
}

extension SchemaDocument {
    package static let rolesMax = 1_000

    package subscript(_ recordType: String) -> RecordTypeDefinition? {
        self.recordTypes.first { $0.name == recordType }
    }

    /// The types by name, for many lookups.
    var typesByName: [String: RecordTypeDefinition] {
        Dictionary(self.recordTypes.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The same schema in the order in which it is printed.
    package var canonical: SchemaDocument {
        SchemaDocument(
            roles: self.roles.sorted { $0.precedes($1) },
            recordTypes: self.recordTypes.map(\.canonical).sorted { $0.name.precedes($1.name) }
        )
    }
}

extension RecordTypeDefinition {
    package subscript(_ field: String) -> FieldDeclaration? {
        self.fields.first { $0.name == field }
    }

    /// The same type with its parts sorted by name, system fields first.
    var canonical: RecordTypeDefinition {
        RecordTypeDefinition(
            name: self.name,
            fields: self.fields.sorted {
                $0.isSystem != $1.isSystem ? $0.isSystem : $0.name.precedes($1.name)
            },
            grants: self.grants.sorted { $0.role.precedes($1.role) }
        )
    }
}

extension FieldDeclaration {
    package init(_ field: SystemField, indexes: IndexKinds = []) {
        self.init(name: field.rawValue, type: .field(field.type), indexes: indexes)
    }

    /// Whether every record has the field, whatever the schema declares.
    package var isSystem: Bool { self.name.hasPrefix("_") }
}

extension [Grant] {
    /// Whether the requester's custom roles matter.
    package var nameCustomRoles: Bool {
        self.contains { !SystemRole.names.contains($0.role) }
    }
}

extension String {
    /// Order by UTF-8 bytes, independent of the machine's locale.
    fileprivate func precedes(_ other: String) -> Bool {
        self.utf8.lexicographicallyPrecedes(other.utf8)
    }
}
