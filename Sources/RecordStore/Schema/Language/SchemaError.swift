import RecordModel

/// An error in a text in the CloudKit Schema Language, and its position.
package struct SchemaError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        case unexpected(found: String, expected: [String])
        /// A comment or a quoted name without its end.
        case unended(Unended)
        case nameInvalid(String)
        case systemNameUnknown(String)
        case roleReserved(String)
        case duplicateRole(String)
        case duplicateType(String)
        case duplicateField(String)
        case duplicateIndex(String)
        case indexNotPossible(index: String, field: String, type: String)
        case systemFieldRetyped(field: String, type: String, defined: String)
        case roleUnknown(String)
        case textTooLarge(bytes: Int)
        case tooManyRoles
        case tooManyTypes
        case tooManyFields(type: String)
    }

    package enum Unended: Hashable, Sendable {
        case comment
        case quotedName
    }

    package var reason: Reason
    package var position: SchemaPosition

    package init(_ reason: Reason, at position: SchemaPosition) {
        self.reason = reason
        self.position = position
    }
}

/// A position in a text.
///
/// Line and column begin at 1; columns count characters.
package struct SchemaPosition: Hashable, Sendable {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

extension SchemaError: CustomStringConvertible {
    /// One line for people, with line and column.
    package var description: String {
        let position = "line \(self.position.line), column \(self.position.column)"
        switch self.reason {
        case .unexpected(let found, let expected):
            return "Encountered \(found) at \(position). Was expecting: \(expected.joined(separator: ", "))"
        case .unended(.comment): return "The comment that begins at \(position) does not end"
        case .unended(.quotedName):
            return "The quoted name that begins at \(position) does not end on its line"
        case .nameInvalid(let name):
            return "Invalid name \(Self.shown(name)) at \(position): a letter, then letters, digits and '_', "
                + "at most \(Bounds.nameBytesMax) characters"
        case .systemNameUnknown(let name):
            return "There is no system field \(Self.shown(name)), at \(position). Use one of: "
                + SystemField.inSchemas.map(\.rawValue).joined(separator: ", ")
        case .roleReserved(let name):
            return "The role \(Self.shown(name)) at \(position) is built in"
        case .duplicateRole(let name): return "The role \(Self.shown(name)) at \(position) exists already"
        case .duplicateType(let name):
            return "The record type \(Self.shown(name)) at \(position) exists already"
        case .duplicateField(let name): return "The field \(Self.shown(name)) at \(position) exists already"
        case .duplicateIndex(let index): return "\(index) at \(position) exists already"
        case .indexNotPossible(let index, let field, let type):
            return
                "\(index) at \(position): the field \(Self.shown(field)) of type \(type) cannot have this index"
        case .systemFieldRetyped(let field, let type, let defined):
            return
                "The type \(type) at \(position) is wrong: \(Self.shown(field)) is a \(defined) in every record type"
        case .roleUnknown(let name):
            return "There is no role \(Self.shown(name)), at \(position). Create it: CREATE ROLE name;"
        case .textTooLarge(let bytes):
            return "The schema has \(bytes) bytes; the limit is \(Bounds.schemaBytesMax)"
        case .tooManyRoles:
            return "The role at \(position) exceeds the limit of \(SchemaDocument.rolesMax)"
        case .tooManyTypes:
            return
                "The record type at \(position) exceeds the limit of \(Bounds.recordTypesMax)"
        case .tooManyFields(let type):
            return
                "The field at \(position) exceeds the limit of \(Bounds.recordTypeFieldsMax) for a record type, "
                + "\(Self.shown(type)) here"
        }
    }

    /// The name in a form that fits in one line, whatever it contains.
    static func shown(_ name: String) -> String {
        let charactersMax = 64
        let cut = name.count > charactersMax ? name.prefix(charactersMax) + "…" : name[...]
        return "\"\(cut)\""
    }
}
