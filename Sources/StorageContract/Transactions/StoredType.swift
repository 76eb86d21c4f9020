import RecordModel

/// A record type as its rows have it.
///
/// An object, because every save and every query needs one, and engines keep those that were needed
/// before.
package final class StoredType {
    /// Every field that was ever saved or declared, system fields included; none if the schema no
    /// longer has the type.
    ///
    /// The name of such a type may still occur in deleted records.
    package let fields: FieldDefinitions
    /// Rights to the type's records in the public database, by role.
    package let grants: [Grant]
    /// Indexes that are not complete yet.
    private let building: Set<Int64>

    init(fields: FieldDefinitions, grants: [Grant], building: Set<Int64> = []) {
        self.fields = fields
        self.grants = grants
        self.building = building
    }

    /// Assembles a type from its rows; `building` has the indexes of any type that are not
    /// complete.
    ///
    /// - Throws: `unexpected` if no version wrote such a row.
    init(
        fields rows: [FieldRow],
        grants: [TypeGrantRow],
        building: Set<Int64>
    ) throws(StorageFailure) {
        var definitions: [(key: String, value: FieldDefinition)] = []
        definitions.reserveCapacity(rows.count)
        for row in rows { definitions.append((row.name, try row.definition())) }
        var fields = FieldDefinitions()
        fields.define(definitions)
        self.fields = fields
        self.grants = grants.map { row in
            Grant(
                role: row.role,
                permissions: Permissions(rawValue: UInt8(truncatingIfNeeded: row.permissions))
            )
        }
        self.building = building.isEmpty ? [] : building.intersection(rows.compactMap(\.index))
    }

    /// The type as queries see it; `nil` if the schema does not have it.
    package private(set) lazy var queryable: QueryableType? =
        self.fields.isTypeDefined ? QueryableType(self.fields, building: self.building) : nil
}

extension StoredType {
    /// Reads types by name from their rows: one element a name, in order, `nil` if no record of
    /// that type was ever saved or declared.
    package static func types(
        named names: [String],
        in environment: EnvironmentID,
        from rows: some TableReader
    ) throws(StorageFailure) -> [StoredType?] {
        let found = try rows.rows(
            of: RecordTypeRow.table,
            by: RecordTypeRow.byName.index,
            keys: names.map { [environment.columnValue, .text($0)] }
        )
        // Nearly always none is, and a type may have a thousand indexes.
        let building = found.contains { $0 != nil } ? try rows.rows(RowRange(IndexBuildRow.byKey)) : []
        let incomplete = Set(building.map(\.index))
        var types: [StoredType?] = []
        types.reserveCapacity(found.count)
        for values in found {
            guard let values else {
                types.append(nil)
                continue
            }
            let number = try RecordTypeRow(values: values).number
            types.append(
                try StoredType(
                    fields: rows.rows(RowRange(FieldRow.byName, number)),
                    grants: rows.rows(RowRange(TypeGrantRow.byKey, number)),
                    building: incomplete
                )
            )
        }
        return types
    }
}

extension IndexReader {
    /// Reads one record type; `nil` if no record of it was ever saved or declared.
    package func type(
        named name: String,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> StoredType? {
        try self.types(named: [name], in: environment)[0]
    }

    /// Reads the fields of one record type; none if there is no such type.
    package func fields(
        ofType name: String,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> FieldDefinitions {
        try self.type(named: name, in: environment)?.fields ?? FieldDefinitions()
    }
}
