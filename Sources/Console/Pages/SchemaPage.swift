import RecordModel
import RecordStore
import StorageContract

/// The schema of an environment, and what differs in the other one.
struct SchemaPages: Sendable {
    let console: ConsolePages

    /// Lines of a difference that are shown at once.
    private static let openLinesMax = 8

    func schemaPage(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        let schema = try await self.console.schema(of: place)
        let types = schema.recordTypes.prefix(ConsolePages.rowsMax).enumerated().map { offset, type in
            Parts.section(type.name, id: "type-\(offset)", self.type(type, place))
        }
        let roles: Markup =
            schema.roles.isEmpty
            ? "" : "<p>Roles: \(schema.roles.map { role -> Markup in "\(Shown.text(role)) " })</p>"
        let cut: Markup =
            schema.recordTypes.count > ConsolePages.rowsMax
            ? "<p>The first \(ConsolePages.rowsMax) of \(Shown.count(schema.recordTypes.count, "type")).</p>"
            : ""
        let changing = SchemaChangePages(console: self.console)
        let body: Markup = """
            \(try await changing.head(place))
            \(Parts.section("Development to production", id: "difference", try await self.difference(place)))
            \(roles)
            \(types)
            \(cut)
            \(Parts.copied("The schema as a .ckdb file", id: "ckdb", schema.text))
            <p><a href="\(place.url(named: "schema.ckdb"))" download>Download \(place.environment.name).ckdb</a></p>
            """
        return self.console.page("Schema", request, place: place, section: .schema, body)
    }

    private func type(_ type: RecordTypeDefinition, _ place: Place) -> Markup {
        let rows = type.fields.map { field -> [Markup] in
            [
                Shown.text(field.name), "\(field.typeText)",
                "\(field.indexes.isEmpty ? "–" : field.indexes.text.lowercased())",
            ]
        }
        let grants = SchemaRules.grantsInForce(type.grants, ofType: type.name).map { grant -> Markup in
            "<span><code>\(Shown.text(grant.role))</code> may \(grant.permissions.text.lowercased())</span>"
        }
        let link: Markup =
            type.name == UserRecord.type
            ? ""
            : "<p><a href=\"\(place.url(.records).adding("type", type.name))\">Records of \(type.name)</a></p>"
        return """
            \(Parts.table(
                caption: "Fields of \(type.name)",
                columns: ["Field", "Type", "Indexes"],
                rows: rows,
                empty: "The type has no fields of its own."
            ))
            <p class="hint">In the public database: <span class="grants">\(grants)</span></p>
            \(link)
            """
    }

    private func difference(_ place: Place) async throws -> Markup {
        let schemas = self.console.store.schemas
        let container = place.container
        let difference = try await self.console.blocking {
            SchemaDifference(
                from: try schemas.schema(ofContainer: container, environment: .production),
                to: try schemas.schema(ofContainer: container, environment: .development)
            )
        }
        guard !difference.isEmpty else {
            return "<p>Production has the same schema as development.</p>"
        }
        // The types are the page's subject: a long list stays closed until the operator opens it.
        let isOpen: Markup = difference.lines.count <= Self.openLinesMax ? " open" : ""
        return """
            <details\(isOpen)>
            <summary>A deploy would make \(Shown.count(difference.lines.count, "change")) in production</summary>
            \(DifferenceMarkup.list(difference))
            </details>
            <p class="hint">On the command line: \(Parts.command("tidemark schema deploy --container \(container)"))</p>
            """
    }
}
