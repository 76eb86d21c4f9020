import RecordModel
package import StorageContract

extension SchemaDocument {
    /// The schema in the CloudKit Schema Language.
    ///
    /// Parsing the text gives the same schema again.
    ///
    /// The form is that of CloudKit's own exports: sorted by name, columns aligned, the system
    /// fields of every type first.
    package var text: String {
        let document = self.canonical
        var text = "DEFINE SCHEMA\n"
        if !document.roles.isEmpty { text += "\n" }
        for role in document.roles { text += "    CREATE ROLE \(Self.quoted(role));\n" }
        for recordType in document.recordTypes { text += "\n" + recordType.text }
        return text
    }

    /// The name, in quotes if the language needs them.
    static func quoted(_ name: String) -> String {
        let isReserved = SchemaKeyword(name).map { SchemaKeyword.reserved.contains($0) } ?? false
        return isReserved || name.hasPrefix("_") || name.contains(".") ? "\"\(name)\"" : name
    }
}

extension RecordTypeDefinition {
    fileprivate var text: String {
        let fields = self.allFields
        let names = fields.map { SchemaDocument.quoted($0.name) }
        let width = names.map(\.utf8.count).max() ?? 0
        var items = zip(names, fields).map { name, field in
            name + String(repeating: " ", count: width - name.utf8.count + 1) + field.typeAndIndexesText
        }
        items += self.grants.map { "GRANT \($0.permissions.text) TO \(SchemaDocument.quoted($0.role))" }
        return "    RECORD TYPE \(SchemaDocument.quoted(self.name)) (\n"
            + items.map { "        " + $0 }.joined(separator: ",\n")
            + "\n    );\n"
    }

    /// The fields with all system fields, indexed or not.
    private var allFields: [FieldDeclaration] {
        let system = SystemField.inSchemas.map { field in
            self.fields.first { $0.name == field.rawValue } ?? FieldDeclaration(field)
        }
        return system + self.fields.filter { !$0.isSystem }
    }
}

extension FieldDeclaration {
    /// The type in the language's spelling.
    package var typeText: String {
        switch self.type {
        case .field(let type):
            guard self.isEncrypted else { return type.schemaName }
            guard type.isList else { return "ENCRYPTED \(type.schemaName)" }
            return "LIST<ENCRYPTED \(type.schemaName.dropFirst("LIST<".count))"
        case .number(nil): return "NUMBER"
        case .number(let preferred?): return "NUMBER PREFERRED AS \(preferred.schemaName)"
        }
    }

    /// The type and its indexes.
    package var typeAndIndexesText: String {
        self.indexes.isEmpty ? self.typeText : "\(self.typeText) \(self.indexes.text)"
    }
}

extension IndexKinds {
    /// In the order in which they are printed.
    static let keywords: [(kind: IndexKinds, keyword: SchemaKeyword)] = [
        (.queryable, .queryable), (.searchable, .searchable), (.sortable, .sortable),
    ]

    /// In the language's spelling, separated by spaces.
    package var text: String {
        Self.keywords.filter { self.contains($0.kind) }.map(\.keyword.rawValue).joined(separator: " ")
    }
}

extension Permissions {
    /// In the order in which they are printed.
    static let keywords: [(permission: Permissions, keyword: SchemaKeyword)] = [
        (.read, .read), (.create, .create), (.write, .write),
    ]

    /// In the language's spelling, separated by commas.
    package var text: String {
        Self.keywords.filter { self.contains($0.permission) }.map(\.keyword.rawValue).joined(separator: ", ")
    }
}
