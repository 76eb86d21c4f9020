import RecordModel

/// A limit that a changed schema would exceed.
package enum SchemaExcess: Hashable, Sendable {
    case recordTypes(Int)
    case fields(Int, recordType: String)
}

extension SchemaExcess: CustomStringConvertible {
    package var description: String {
        switch self {
        case .recordTypes(let count): "\(count) record types; the limit is \(Bounds.recordTypesMax)"
        case .fields(let count, let recordType):
            "\(count) fields of the record type \(recordType); the limit is \(Bounds.recordTypeFieldsMax)"
        }
    }
}

extension SchemaRules {
    /// The limits that a change would exceed, or exceed further.
    ///
    /// A schema from before there were limits may keep what it has.
    static func excesses(from old: SchemaDocument, to new: SchemaDocument) -> [SchemaExcess] {
        var excesses: [SchemaExcess] = []
        let types = new.recordTypes.count
        if types > max(Bounds.recordTypesMax, old.recordTypes.count) { excesses.append(.recordTypes(types)) }
        for type in new.recordTypes where type.userFieldCount > Bounds.recordTypeFieldsMax {
            let count = type.userFieldCount
            if count > old[type.name]?.userFieldCount ?? 0 {
                excesses.append(.fields(count, recordType: type.name))
            }
        }
        return excesses
    }
}

extension RecordTypeDefinition {
    /// Number of fields that are not the system's.
    fileprivate var userFieldCount: Int { self.fields.count { !$0.isSystem } }
}
