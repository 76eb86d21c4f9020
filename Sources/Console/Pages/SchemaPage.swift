import RecordModel
import RecordStore

/// The schema of an environment, and what differs in the other one.
struct SchemaPages: Sendable {
    let console: ConsolePages

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
            "<li>\(Shown.text(grant.role)): \(grant.permissions.text.lowercased())</li>"
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
            <ul class="grants" aria-label="Grants in the public database">\(grants)</ul>
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
        return """
            <p>A deploy would make these changes in production:</p>
            \(DifferenceMarkup.list(difference))
            <p><code>tidemark schema deploy --container \(container)</code></p>
            """
    }
}
