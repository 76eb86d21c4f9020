/// Tables of what zones contain, in the form that a move between engines takes.
///
/// Rules reach these rows through primitives of their own, and each engine keeps them in its own way. A move
/// reads and writes them as rows.
package enum ContentTables {
    package static let record = Table(
        "record",
        columns: [
            .integer("database"), .integer("zone"), .integer("number"), .text("name"), .integer("type"),
            .integer("position"), .integer("created_position"), .integer("created_ms"),
            .integer("modified_ms"), .integer("creator"), .integer("modifier"), .optional(.text("parent")),
            .bytes("body"),
        ],
        key: ["database", "zone", "number"]
    )

    /// The order of changes: of each record the position of its last change.
    package static let change = Table(
        "change",
        columns: [.integer("database"), .integer("zone"), .integer("position"), .integer("record")],
        key: ["database", "zone", "position"]
    )

    package static let tombstone = Table(
        "tombstone",
        columns: [
            .integer("database"), .integer("zone"), .text("name"), .integer("position"), .integer("type"),
            .integer("deleted_ms"), .integer("creator"), .optional(.integer("covered_by")),
        ],
        key: ["database", "zone", "name"]
    )

    package static let reference = Table(
        "hold",
        columns: [
            .integer("database"), .integer("zone"), .text("target"), .text("holder"), .integer("kinds"),
        ],
        key: ["database", "zone", "target", "holder"]
    )

    package static let entry = Table(
        "index_entry",
        columns: [
            .integer("database"), .integer("zone"), .integer("index_number"), .bytes("value"),
            .integer("record"),
        ],
        key: ["database", "zone", "index_number", "value", "record"]
    )

    package static let all = [Self.record, Self.change, Self.tombstone, Self.reference, Self.entry]
}

extension Table {
    /// All tables with rows that a move takes along: together they are a store.
    package static let moved = Table.all + ContentTables.all

    /// Maximum number of rows that a move reads at once: few, where a row may take a mebibyte.
    package var movedPageMax: Int { ["record", "past", "request"].contains(self.name) ? 64 : 1_000 }
}
