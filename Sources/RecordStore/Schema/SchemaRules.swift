import RecordModel

/// What may become of a schema: pure, all of it.
package enum SchemaRules {
    /// What every type has that the first save makes: its creator changes it, whoever is signed in creates, all read.
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

    /// The grants of a type that is in the schema; user records have theirs when it gives them none.
    package static func grantsInForce(_ stored: [Grant], ofType type: String) -> [Grant] {
        stored.isEmpty && type == UserRecord.type ? self.users.grants : stored
    }

    /// What a schema becomes when it is put in place of another: user records are there whether it names them or not.
    ///
    /// A schema that does not name them leaves them as they are; one that does cannot take away the field of their roles.
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

    /// What a new schema would take away from an old one whose data must stay readable: types, fields and their types.
    ///
    /// Indexes, roles and grants may come and go.
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

    /// What a schema that a program was built with has and the one in force lacks, in the order of the former.
    package static func shortfalls(
        of inForce: SchemaDocument,
        comparedWith required: SchemaDocument
    ) -> [SchemaShortfall] {
        var missing: [SchemaShortfall] = []
        let types = inForce.typesByName
        for type in required.recordTypes {
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
    /// Whether values of the other declaration are values of this one, with the same entries in an index.
    func means(_ other: FieldDeclaration) -> Bool {
        self.isEncrypted == other.isEncrypted && self.type == other.type
    }
}
