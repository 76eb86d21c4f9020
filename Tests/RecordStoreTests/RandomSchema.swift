import RecordModel
import RecordStore
import StorageContract

/// Schemas at random, in no order.
enum RandomSchema {
    static func document(using generator: inout some RandomNumberGenerator) -> SchemaDocument {
        let roles = self.names(upTo: 3, using: &generator)
        let types = self.names(upTo: 4, using: &generator).map { name in
            RecordTypeDefinition(
                name: name,
                fields: self.fields(using: &generator),
                grants: self.grants(to: roles, using: &generator)
            )
        }
        return SchemaDocument(roles: roles, recordTypes: types)
    }

    private static let letters = Array("abcxyzABCXYZ")
    private static let others = Array("abzABZ019_")
    private static let odd = [
        "grant", "Sortable", "PREFERRED", "queryable", "searchable", "type", "list", "to",
    ]

    private static func names(upTo count: Int, using generator: inout some RandomNumberGenerator) -> [String]
    {
        var names: Set<String> = []
        for _ in 0..<Int.random(in: 0...count, using: &generator) {
            if Int.random(in: 0..<5, using: &generator) == 0 {
                names.insert(self.odd.randomElement(using: &generator)!)
                continue
            }
            let length = Int.random(in: 0..<12, using: &generator)
            names.insert(
                String(self.letters.randomElement(using: &generator)!)
                    + String((0..<length).map { _ in self.others.randomElement(using: &generator)! })
            )
        }
        return names.shuffled(using: &generator)
    }

    private static func fields(using generator: inout some RandomNumberGenerator) -> [FieldDeclaration] {
        var fields = self.names(upTo: 12, using: &generator).map { name in
            let type = self.type(using: &generator)
            var field = FieldDeclaration(name: name, type: type)
            if case .field(let type) = type, !Self.plain.contains(type) {
                field.isEncrypted = Int.random(in: 0..<4, using: &generator) == 0
            }
            field.indexes = self.some(of: .permitted(for: type, isEncrypted: field.isEncrypted), &generator)
            return field
        }
        for system in SystemField.inSchemas {
            let type = DeclaredType.field(system.type)
            let indexes = self.some(of: .permitted(for: type, isEncrypted: false), &generator)
            if !indexes.isEmpty { fields.append(FieldDeclaration(system, indexes: indexes)) }
        }
        return fields.shuffled(using: &generator)
    }

    private static func type(using generator: inout some RandomNumberGenerator) -> DeclaredType {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return .number(preferred: [nil, .int64, .double].randomElement(using: &generator)!)
        default:
            let types = FieldType.allCases.filter { $0 != .emptyList && $0 != .clear }
            return .field(types.randomElement(using: &generator)!)
        }
    }

    private static let plain: [FieldType] = [.reference, .referenceList, .asset, .assetList]

    private static func some(
        of permitted: IndexKinds,
        _ generator: inout some RandomNumberGenerator
    ) -> IndexKinds {
        permitted.intersection(IndexKinds(rawValue: UInt8.random(in: 0..<8, using: &generator)))
    }

    private static func grants(
        to roles: [String],
        using generator: inout some RandomNumberGenerator
    ) -> [Grant] {
        (roles + SystemRole.names.sorted()).shuffled(using: &generator).compactMap { role in
            let permissions = Permissions(rawValue: UInt8.random(in: 0..<8, using: &generator))
            return permissions.isEmpty ? nil : Grant(role: role, permissions: permissions)
        }
    }
}
