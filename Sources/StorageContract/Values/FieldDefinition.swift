package import RecordModel

/// The definition that the first save of a field made for all records of its type in the
/// environment.
package struct FieldDefinition: Hashable, Sendable {
    package var type: FieldType
    /// Whether the field is a `NUMBER` of a schema: integers and doubles in one order.
    package var isNumber: Bool
    package var isEncrypted: Bool
    /// The queries that the field permits.
    package var indexes: IndexKinds
    /// The number of the field's values in the index, or `nil` if they have no entries.
    ///
    /// An engine assigns it when the field is defined. It is unrelated to the field's name or
    /// position.
    package var index: Int64?

    package init(
        type: FieldType,
        isNumber: Bool = false,
        isEncrypted: Bool,
        indexes: IndexKinds = [],
        index: Int64? = nil
    ) {
        self.type = type
        self.isNumber = isNumber
        self.isEncrypted = isEncrypted
        self.indexes = indexes
        self.index = index
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
