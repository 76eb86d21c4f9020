import RecordModel
import StorageContract

/// Reads the CloudKit Schema Language.
///
/// ```text
/// schema      := DEFINE SCHEMA { (create-role | record-type) ";" }
/// create-role := CREATE ROLE name
/// record-type := RECORD TYPE name "(" item { "," item } ")"
/// item        := name type { QUERYABLE | SORTABLE | SEARCHABLE }
///              | GRANT permission { "," permission } TO name
/// type        := primitive | encrypted | number | LIST "<" ( primitive | encrypted ) ">"
/// encrypted   := ENCRYPTED (BYTES | STRING | DOUBLE | INT64 | LOCATION | TIMESTAMP)
/// number      := NUMBER [ PREFERRED AS (INT64 | DOUBLE) ]
/// ```
///
/// Types and fields may have names of CloudKit's own, in quotes: `"cloudkit.share"` with
/// `"cloudkit.title"`. A schema keeps them, and shares need none of it.
package struct SchemaParser {
    private var tokenizer: SchemaTokenizer
    /// The token that is read next.
    var token: SchemaToken
    private var roles: Set<String> = []
    private var recordTypes: [RecordTypeDefinition] = []
    private var typeNames: Set<String> = []
    /// Checked at the end, because a grant may name a role that is created below it.
    private var grantees: [(role: String, position: SchemaPosition)] = []

    private init(_ bytes: [UInt8]) throws(SchemaError) {
        self.tokenizer = SchemaTokenizer(bytes)
        self.token = try self.tokenizer.next()
    }

    /// Parses a text.
    ///
    /// The schema is in the order of names.
    ///
    /// Parsing ends at the first error.
    ///
    /// - Throws: The error, with line and column.
    package static func parse(_ bytes: [UInt8]) throws(SchemaError) -> SchemaDocument {
        guard bytes.count <= Bounds.schemaBytesMax else {
            throw SchemaError(.textTooLarge(bytes: bytes.count), at: SchemaPosition(line: 1, column: 1))
        }
        var parser = try SchemaParser(bytes)
        return try parser.schema()
    }

    package static func parse(_ text: String) throws(SchemaError) -> SchemaDocument {
        try self.parse(Array(text.utf8))
    }

    private mutating func schema() throws(SchemaError) -> SchemaDocument {
        try self.take(.define)
        try self.take(.schema)
        while self.token.kind != .end {
            if self.token.isKeyword(.create) {
                try self.createRole()
            } else if self.token.isKeyword(.record) {
                try self.recordType()
            } else {
                throw self.unexpected([
                    SchemaKeyword.create.rawValue, SchemaKeyword.record.rawValue, "the end",
                ])
            }
            try self.take(mark: ";")
        }
        let known = self.roles.union(SystemRole.names)
        for grantee in self.grantees where !known.contains(grantee.role) {
            throw SchemaError(.roleUnknown(grantee.role), at: grantee.position)
        }
        return SchemaDocument(roles: Array(self.roles), recordTypes: self.recordTypes).canonical
    }

    private mutating func createRole() throws(SchemaError) {
        try self.take(.create)
        try self.take(.role)
        let (name, position) = try self.name(of: "a role")
        guard !SystemRole.names.contains(name) else { throw SchemaError(.roleReserved(name), at: position) }
        try Self.checkIdentifier(name, at: position)
        guard !self.roles.contains(name) else { throw SchemaError(.duplicateRole(name), at: position) }
        guard self.roles.count < SchemaDocument.rolesMax else {
            throw SchemaError(.tooManyRoles, at: position)
        }
        self.roles.insert(name)
    }

    private mutating func recordType() throws(SchemaError) {
        try self.take(.record)
        try self.take(.type)
        let (name, position) = try self.name(of: "a record type")
        if !NameRules.isCloudKitName(name) { try Self.checkIdentifier(name, at: position) }
        guard self.typeNames.insert(name).inserted else {
            throw SchemaError(.duplicateType(name), at: position)
        }
        // The type of user records, and its field for roles, exist whether the schema names them or
        // not.
        let hasUsers = self.typeNames.contains(UserRecord.type)
        guard self.typeNames.count + (hasUsers ? 0 : 1) <= Bounds.recordTypesMax else {
            throw SchemaError(.tooManyTypes, at: position)
        }
        var definition = RecordTypeDefinition(name: name)
        var fields = FieldNames(ofType: name)
        var grants: [String: Permissions] = [:]
        try self.take(mark: "(")
        repeat {
            if self.token.isKeyword(.grant) {
                let grant = try self.grant()
                grants[grant.role, default: []].formUnion(grant.permissions)
            } else {
                try self.field(into: &definition, names: &fields)
            }
        } while try self.takes(mark: ",")
        try self.take(mark: ")")
        definition.grants = grants.map { Grant(role: $0.key, permissions: $0.value) }
        self.recordTypes.append(definition)
    }

    private struct FieldNames {
        var all: Set<String> = []
        /// Without system fields.
        var count: Int

        init(ofType type: String) { self.count = type == UserRecord.type ? 1 : 0 }
    }

    private mutating func field(
        into definition: inout RecordTypeDefinition,
        names: inout FieldNames
    ) throws(SchemaError) {
        let (name, position) = try self.name(of: "a field", or: .grant)
        let isSystem = name.hasPrefix("_")
        let system = isSystem ? SystemField.inSchemas.first { $0.rawValue == name } : nil
        if isSystem, system == nil { throw SchemaError(.systemNameUnknown(name), at: position) }
        if !isSystem, !NameRules.isCloudKitName(name) { try Self.checkIdentifier(name, at: position) }
        guard names.all.insert(name).inserted else { throw SchemaError(.duplicateField(name), at: position) }
        let isOfUsers = UserRecord.fieldType(of: name, in: definition.name) != nil
        if !isSystem, !isOfUsers { names.count += 1 }
        guard names.count <= Bounds.recordTypeFieldsMax else {
            throw SchemaError(.tooManyFields(type: definition.name), at: position)
        }
        let typePosition = self.token.position
        var field = try self.type(ofField: name)
        if let expected = system?.type ?? UserRecord.fieldType(of: name, in: definition.name),
            field.type != .field(expected) || field.isEncrypted
        {
            let reason = SchemaError.Reason.systemFieldRetyped(
                field: name,
                type: field.typeText,
                defined: expected.schemaName
            )
            throw SchemaError(reason, at: typePosition)
        }
        field.indexes = try self.indexes(of: field)
        // A system field exists whether it is listed or not, so only its indexes are kept.
        if system == nil || !field.indexes.isEmpty { definition.fields.append(field) }
    }

    private mutating func indexes(of field: FieldDeclaration) throws(SchemaError) -> IndexKinds {
        let permitted = IndexKinds.permitted(for: field.type, isEncrypted: field.isEncrypted)
        var indexes: IndexKinds = []
        while let (kind, keyword) = IndexKinds.keywords.first(where: { self.token.isKeyword($0.keyword) }) {
            let position = self.token.position
            guard permitted.contains(kind) else {
                let reason = SchemaError.Reason.indexNotPossible(
                    index: keyword.rawValue,
                    field: field.name,
                    type: field.typeText
                )
                throw SchemaError(reason, at: position)
            }
            guard indexes.insert(kind).inserted else {
                throw SchemaError(.duplicateIndex(keyword.rawValue), at: position)
            }
            try self.advance()
        }
        guard self.token.kind == .mark(UInt8(ascii: ",")) || self.token.kind == .mark(UInt8(ascii: ")"))
        else {
            throw self.unexpected(IndexKinds.keywords.map(\.keyword.rawValue) + ["\",\"", "\")\""])
        }
        return indexes
    }

    private mutating func grant() throws(SchemaError) -> Grant {
        try self.take(.grant)
        var permissions: Permissions = []
        repeat {
            guard let found = Permissions.keywords.first(where: { self.token.isKeyword($0.keyword) }) else {
                throw self.unexpected(Permissions.keywords.map(\.keyword.rawValue))
            }
            permissions.insert(found.permission)
            try self.advance()
        } while try self.takes(mark: ",")
        try self.take(.to)
        let (role, position) = try self.name(of: "a role")
        self.grantees.append((role, position))
        return Grant(role: role, permissions: permissions)
    }

    // MARK: Words

    mutating func advance() throws(SchemaError) {
        self.token = try self.tokenizer.next()
    }

    mutating func take(_ keyword: SchemaKeyword) throws(SchemaError) {
        guard self.token.isKeyword(keyword) else { throw self.unexpected([keyword.rawValue]) }
        try self.advance()
    }

    mutating func take(mark: Character) throws(SchemaError) {
        guard try self.takes(mark: mark) else { throw self.unexpected(["\"\(mark)\""]) }
    }

    /// Takes the token if it is this mark.
    private mutating func takes(mark: Character) throws(SchemaError) -> Bool {
        guard let byte = mark.asciiValue, self.token.kind == .mark(byte) else { return false }
        try self.advance()
        return true
    }

    private mutating func name(
        of what: String,
        or keyword: SchemaKeyword? = nil
    ) throws(SchemaError) -> (name: String, position: SchemaPosition) {
        let position = self.token.position
        let name: String
        switch self.token.kind {
        case .quoted(let quoted):
            name = quoted
        case .word(let word, let keyword)
        where NameRules.isIdentifier(word.utf8)
            && !(keyword.map { SchemaKeyword.reserved.contains($0) } ?? false):
            name = word
        case .word, .mark, .end:
            let quoting = "the name of \(what), in quotes if it is reserved or begins with '_'"
            throw self.unexpected([quoting] + (keyword.map { [$0.rawValue] } ?? []))
        }
        try self.advance()
        return (name, position)
    }

    private static func checkIdentifier(_ name: String, at position: SchemaPosition) throws(SchemaError) {
        guard NameRules.isIdentifier(name.utf8) else { throw SchemaError(.nameInvalid(name), at: position) }
    }

    func unexpected(_ expected: [String]) -> SchemaError {
        SchemaError(.unexpected(found: self.token.text, expected: expected), at: self.token.position)
    }
}
