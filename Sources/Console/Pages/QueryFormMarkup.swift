import RecordModel
import RecordStore
import StorageContract

/// The form of a query: it offers what the schema's indexes permit.
struct QueryFormMarkup {
    let place: Place
    let schema: SchemaDocument
    let form: QueryForm?
    let definition: RecordTypeDefinition?
    /// Names that the field of the zone offers.
    let zones: [String]

    var markup: Markup {
        let types = self.schema.recordTypes.filter { $0.name != UserRecord.type }.map {
            Parts.option($0.name, $0.name, isSelected: $0.name == self.form?.type)
        }
        return """
            <form class="query" method="get" action="\(self.place.url(.records).path)" role="search" aria-label="Query">
            \(self.place.hiddenFields)
            <div class="fields">
            <label>Record type
            <select name="type" data-filter data-submits required>
            <option value="">Choose…</option>
            \(types)
            </select>
            </label>
            <label>Zone
            <input name="zone" list="zones" value="\(self.form?.zone?.zoneName ?? "")" placeholder="all" autocomplete="off" spellcheck="false">
            </label>
            \(Parts.choices("zones", self.zones))
            \(self.ownerField)
            \(self.sortFields)
            </div>
            \(self.conditions)
            \(self.more)
            <p class="actions"><button type="submit">Find</button></p>
            </form>
            """
    }

    private var ownerField: Markup {
        guard self.place.scope == .shared else { return "" }
        return """
            <label>Owner of the zone
            <input name="owner" value="\(self.form?.zone?.ownerName ?? "")" placeholder="user record name" autocomplete="off" spellcheck="false">
            </label>
            """
    }

    /// Fields by which the type may be asked for with one of these marks.
    private func fields(with marks: IndexKinds) -> [FieldDeclaration] {
        (self.definition?.fields ?? []).filter { !$0.isEncrypted && !$0.indexes.isDisjoint(with: marks) }
    }

    // MARK: Conditions

    @inline(never)
    private var conditions: Markup {
        guard self.definition != nil else { return "" }
        let offered = self.fields(with: [.queryable, .sortable, .searchable])
        guard !offered.isEmpty else {
            return
                "<p class=\"hint\">No field of the type has an index, so there is nothing to filter by.</p>"
        }
        let rows = (self.form?.conditions ?? []).map { self.row($0, offered) }
        return """
            <fieldset>
            <legend>Conditions, all of which hold</legend>
            \(rows)
            \(self.row(nil, offered))
            </fieldset>
            """
    }

    private func row(_ condition: QueryForm.Condition?, _ offered: [FieldDeclaration]) -> Markup {
        var fields = offered.map {
            Parts.option($0.name, "\($0.name) · \($0.typeText)", isSelected: $0.name == condition?.field)
        }
        // A condition that the schema does not permit stays, beside the error.
        if let condition, !offered.contains(where: { $0.name == condition.field }) {
            fields.append(Parts.option(condition.field, condition.field, isSelected: true))
        }
        let tests = QueryTest.allCases.map {
            Parts.option($0.rawValue, $0.title, isSelected: $0 == condition?.test)
        }
        return """
            <div class="condition">
            <select name="field" aria-label="Field"><option value="">No condition</option>\(fields)</select>
            <select name="test" aria-label="Comparison">\(tests)</select>
            <input name="value" aria-label="Value" value="\(condition?.value ?? "")" autocomplete="off" spellcheck="false">
            </div>
            """
    }

    // MARK: Order and columns

    private var sortFields: Markup {
        guard self.definition != nil else { return "" }
        var names = self.fields(with: .sortable).map(\.name)
        let modified = SystemField.modTime.rawValue
        if !names.contains(modified) { names.append(modified) }
        let fields = names.map {
            Parts.option($0, Self.title(ofOrder: $0), isSelected: $0 == self.form?.sort)
        }
        let isDescending = self.form?.isDescending ?? false
        return """
            <label>Order
            <select name="sort"><option value="">as the index has it</option>\(fields)</select>
            </label>
            <label>Direction
            <select name="order">
            \(Parts.option("ascending", "ascending, oldest first", isSelected: !isDescending))
            \(Parts.option("descending", "descending, newest first", isSelected: isDescending))
            </select>
            </label>
            """
    }

    /// A field by which records are ordered, as people call it.
    private static func title(ofOrder name: String) -> String {
        switch SystemField(rawValue: name) {
        case .createTime: "time of creation"
        case .modTime: "time of the last change"
        default: name
        }
    }

    private var more: Markup {
        guard self.definition != nil else { return "" }
        let isOpen: Markup = self.form?.predicate != nil || self.form?.columns.isEmpty == false ? " open" : ""
        return """
            <details\(isOpen)>
            <summary>Predicate and columns</summary>
            <label class="wide">A predicate, in the format language of NSPredicate
            <input name="predicate" value="\(self.form?.predicate ?? "")" placeholder="isDone == 0 AND due &lt; now()" autocomplete="off" spellcheck="false">
            </label>
            <label class="wide">Columns, separated by commas
            <input name="columns" value="\((self.form?.columns ?? []).joined(separator: ", "))" placeholder="the first six fields" autocomplete="off" spellcheck="false">
            </label>
            </details>
            """
    }
}
