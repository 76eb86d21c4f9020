import RecordModel
import RecordStore
import StorageContract

/// The records that a record is connected to: parents, children, and referrers.
extension RecordPages {
    private static let ancestorsMax = 20
    /// Maximum number of relatives of each kind, and of each field of each type.
    private static let relativesMax = 20
    /// Queries that one page makes for relatives.
    private static let queriesMax = 100

    func family(
        of record: Record,
        _ ancestors: Ancestors,
        _ schema: SchemaDocument,
        _ place: Place,
        _ reader: DatabaseReader
    ) async throws -> Markup {
        let parents = ancestors.ids.map { RecordLink.markup($0, in: place) }
        let chain: Markup =
            parents.isEmpty
            ? "<p class=\"empty\">The record has no parent.</p>"
            : "<p>Parents, nearest first:</p><ol class=\"chain\">\(parents.map { link -> Markup in "<li>\(link)</li>" })</ol>"
        guard place.scope != .public || record.recordType != UserRecord.type else { return chain }
        let relatives = await self.relatives(of: record, schema, reader)
        let table = Parts.table(
            caption: "Records that refer to this one, at most \(Self.relativesMax) for each field",
            columns: ["Record", "Type", "By"],
            rows: relatives.found.map { relative in
                [
                    RecordLink.markup(relative.id, in: place), Shown.text(relative.type),
                    "\(relative.fields.joined(separator: ", "))",
                ]
            },
            empty: "No record refers to this one by its parent or by a field that has an index.",
            isRowList: true
        )
        return "\(chain)\(table)\(self.unseen(relatives.fieldsWithoutIndex))"
    }

    private func unseen(_ fields: [String]) -> Markup {
        guard !fields.isEmpty else { return "" }
        return """
            <p class="hint">Not looked at, because they have no index: \(fields.prefix(20).joined(separator: ", ")).</p>
            """
    }

    /// The parents of a record, nearest first.
    struct Ancestors: Sendable {
        var ids: [RecordID] = []
        /// The name of the share that begins at the record or at the nearest of them.
        var share: String?
    }

    func ancestors(of record: Record, _ reader: DatabaseReader) async -> Ancestors {
        var ancestors = Ancestors(share: SharePages.nameOfShare(beginningAt: record))
        var next = record.parent
        while let name = next, ancestors.ids.count < Self.ancestorsMax {
            let id = RecordID(zone: record.id.zone, recordName: name)
            ancestors.ids.append(id)
            next = nil
            guard case .record(let parent)? = try? await reader.fetch([id]).first else { continue }
            next = parent.parent
            ancestors.share = ancestors.share ?? SharePages.nameOfShare(beginningAt: parent)
        }
        return ancestors
    }

    private struct Relative: Sendable {
        var id: RecordID
        var type: String
        /// At least one.
        var fields: [String]
    }

    private struct Relatives: Sendable {
        var found: [Relative] = []
        var fieldsWithoutIndex: [String] = []

        /// Adds records that refer by one field; a record that is there already gets the field.
        mutating func add(_ ids: [RecordID], type: String, by field: String) {
            for id in ids {
                if let index = self.found.firstIndex(where: { $0.id == id }) {
                    self.found[index].fields.append(field)
                } else {
                    self.found.append(Relative(id: id, type: type, fields: [field]))
                }
            }
        }
    }

    /// Asks the indexes of every type, up to a bound.
    private func relatives(
        of record: Record,
        _ schema: SchemaDocument,
        _ reader: DatabaseReader
    ) async -> Relatives {
        var relatives = Relatives()
        var queries = 0
        for type in schema.recordTypes where type.name != UserRecord.type {
            var fields = [(name: SystemField.parent.rawValue, test: Comparator.equals)]
            for field in type.fields where !field.isSystem {
                let isList = field.fieldType == .referenceList
                guard isList || field.fieldType == .reference else { continue }
                guard field.indexes.contains(.queryable) else {
                    relatives.fieldsWithoutIndex.append("\(type.name).\(field.name)")
                    continue
                }
                fields.append((name: field.name, test: isList ? .listContains : .equals))
            }
            for field in fields where queries < Self.queriesMax {
                queries += 1
                let ids = await self.referrers(to: record, type.name, field.name, field.test, reader)
                let isParent = field.name == SystemField.parent.rawValue
                relatives.add(ids, type: type.name, by: isParent ? "its parent" : field.name)
            }
        }
        return relatives
    }

    private func referrers(
        to record: Record,
        _ type: String,
        _ field: String,
        _ test: Comparator,
        _ reader: DatabaseReader
    ) async -> [RecordID] {
        let target = FieldValue.reference(Reference(recordName: record.id.recordName, action: .none))
        let comparison = Comparison(field: field, comparator: test, operand: target)
        let read = QueryRead(
            query: Query(recordType: type, predicate: .comparison(comparison)),
            zone: record.id.zone,
            desiredKeys: [],
            limit: Self.relativesMax
        )
        // A type that no record has, or an index that is being built, has nothing to show.
        guard let page = try? await reader.page(read) else { return [] }
        return page.records.map(\.id)
    }
}
