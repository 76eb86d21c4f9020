package import RecordModel

/// Records that an operator puts back, and how their saves differ from those of a client.
///
/// The saves are ordinary changes, with three exceptions. A record that is made again keeps who had
/// made it and when. Grants of a public database do not matter. Every complete asset of the database
/// may be named.
package struct UndoneRecords: Sendable {
    /// System fields of records that are made again, by name; of the last change they say nothing.
    package var creations: [ExactName: SystemFields]

    package init(creations: [ExactName: SystemFields]) { self.creations = creations }
}

/// How an operator's saves differ from those of a client.
enum Restoration {
    /// They restore the records that changes replaced.
    case undo(UndoneRecords)
    /// They come from another store, with system fields for each save.
    case copy([SystemFields])
}
