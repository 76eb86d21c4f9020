import RecordStore

/// The concern of a change of a table, beside the table itself.
enum TableConcern {
    /// The writer and readers know record types, which are made of it.
    case types
    /// The numbers of names as well.
    case names
    case zones
    /// Positions, and whose quotas a database counts for.
    case databases
    /// Housekeeping has work.
    case work(HousekeepingKind)

    static let all: [ObjectIdentifier: TableConcern] = {
        var concerns: [ObjectIdentifier: TableConcern] = [
            ObjectIdentifier(FieldRow.table): .types, ObjectIdentifier(TypeGrantRow.table): .types,
            ObjectIdentifier(RecordTypeRow.table): .names, ObjectIdentifier(AuthorRow.table): .names,
            ObjectIdentifier(ZoneRow.table): .zones, ObjectIdentifier(DatabaseRow.table): .databases,
            ObjectIdentifier(EnvironmentRow.table): .databases, ObjectIdentifier(UserRow.table): .databases,
        ]
        for kind in HousekeepingKind.allCases {
            for table in kind.tables { concerns[ObjectIdentifier(table)] = .work(kind) }
        }
        return concerns
    }()
}
