import RecordModel
package import StorageContract

/// The rules for changes of a schema.
///
/// All are pure.
package enum SchemaRules {
    /// The grants of a type that a first save defines: its creator may change records, signed-in
    /// users may create them, everyone may read them.
    package static let defaultGrants = [
        Grant(role: SystemRole.creator, permissions: .write),
        Grant(role: SystemRole.signedIn, permissions: .create),
        Grant(role: SystemRole.world, permissions: .read),
    ]

    /// The type of user records, which every schema has.
    package static let users = RecordTypeDefinition(
        name: UserRecord.type,
        fields: [FieldDeclaration(name: UserRecord.rolesField, type: .field(.int64List))],
        grants: [
            Grant(role: SystemRole.creator, permissions: .write),
            Grant(role: SystemRole.world, permissions: .read),
        ]
    )

    /// The grants in force for a type.
    ///
    /// User records have default grants if the schema declares none.
    package static func grantsInForce(_ stored: [Grant], ofType type: String) -> [Grant] {
        stored.isEmpty && type == UserRecord.type ? self.users.grants : stored
    }

    /// Returns the schema that results when one replaces another.
    ///
    /// It always has user records.
    ///
    /// A schema without them leaves them unchanged. A schema with them cannot remove their field
    /// for roles.
    package static func completed(_ document: SchemaDocument, from current: SchemaDocument) -> SchemaDocument
    {
        var document = document
        if let named = document.recordTypes.firstIndex(where: { $0.name == UserRecord.type }) {
            for field in self.users.fields where document.recordTypes[named][field.name] == nil {
                document.recordTypes[named].fields.append(field)
            }
        } else {
            document.recordTypes.append(current[UserRecord.type] ?? self.users)
        }
        return document.canonical
    }

    /// The types, fields and field types that a new schema would remove from an old one.
    ///
    /// The data of the old schema must stay readable.
    ///
    /// Indexes, roles and grants may be added and removed.
    package static func losses(from old: SchemaDocument, to new: SchemaDocument) -> [SchemaLoss] {
        var losses: [SchemaLoss] = []
        let types = new.typesByName
        for type in old.recordTypes {
            guard let kept = types[type.name] else {
                losses.append(.recordType(type.name))
                continue
            }
            var fields: [String: FieldDeclaration] = [:]
            for field in kept.fields { fields[field.name] = field }
            for field in type.fields where !field.isSystem {
                guard let other = fields[field.name] else {
                    losses.append(.field(field.name, recordType: type.name))
                    continue
                }
                guard !other.means(field) else { continue }
                losses.append(
                    .fieldType(
                        field.name,
                        recordType: type.name,
                        old: field.typeText,
                        new: other.typeText
                    )
                )
            }
        }
        return losses
    }

    /// The parts that an app's schema has and the one in force lacks, in the order of the former.
    package static func shortfalls(
        of inForce: SchemaDocument,
        comparedWith required: SchemaDocument
    ) -> [SchemaShortfall] {
        var missing: [SchemaShortfall] = []
        let types = inForce.typesByName
        // Shares have the fields of their clients, whatever a schema says.
        for type in required.recordTypes where type.name != ShareRecord.type {
            guard let known = types[type.name] else {
                missing.append(.recordType(type.name))
                continue
            }
            var fields: [String: FieldDeclaration] = [:]
            for field in known.fields { fields[field.name] = field }
            for field in type.fields {
                let other = fields[field.name]
                if let other, !other.means(field) {
                    missing.append(
                        .fieldType(
                            field.name,
                            recordType: type.name,
                            required: field.typeText,
                            found: other.typeText
                        )
                    )
                    continue
                }
                if other == nil, !field.isSystem {
                    missing.append(.field(field.name, recordType: type.name, type: field.typeText))
                }
                let indexes = field.indexes.subtracting(other?.indexes ?? [])
                if !indexes.isEmpty {
                    missing.append(.index(indexes, field: field.name, recordType: type.name))
                }
            }
        }
        return missing
    }
}

extension FieldDeclaration {
    /// Whether values of both declarations are the same, with the same index entries.
    func means(_ other: FieldDeclaration) -> Bool {
        self.isEncrypted == other.isEncrypted && self.type == other.type
    }
}
