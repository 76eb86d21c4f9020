import RecordModel

/// Records as rows.
struct RecordsTable {
    let place: Place
    /// The fields to show.
    let columns: [String]
    let showsZone: Bool

    func markup(
        _ records: [Record],
        caption: Markup,
        empty: Markup = "No record meets the conditions."
    ) -> Markup {
        let zone = self.showsZone ? ["Zone"] : []
        return Parts.table(
            caption: caption,
            columns: ["Name"] + zone + ["Changed"] + self.columns,
            rows: records.map { self.cells(of: $0) },
            empty: empty,
            isRowList: true
        )
    }

    private func cells(of record: Record) -> [Markup] {
        var values: [String: Field] = [:]
        for field in record.body.fields { values[field.name] = field }
        let zone: [Markup] = self.showsZone ? [Shown.text(record.id.zone.zoneName)] : []
        return [RecordLink.markup(record.id, in: self.place)] + zone
            + [Shown.time(milliseconds: record.system.modifiedMilliseconds)]
            + self.columns.map { name in values[name].map { self.cell($0, of: record) } ?? "" }
    }

    private func cell(_ field: Field, of record: Record) -> Markup {
        if field.isEncrypted { return ValueMarkup.encrypted(field) }
        if case .reference(let reference) = field.value {
            let zone = reference.zone ?? record.id.zone
            return RecordLink.markup(RecordID(zone: zone, recordName: reference.recordName), in: self.place)
        }
        switch field.value {
        case .int64(let number): return Parts.number(Shown.number(number))
        case .double(let number): return Parts.number(String(number))
        case .timestamp(let seconds): return ValueMarkup.moment(seconds)
        default: return Shown.cut(ValueMarkup.line(field.value))
        }
    }
}

/// A link to a record.
enum RecordLink {
    static func markup(_ id: RecordID, in place: Place) -> Markup {
        "<a href=\"\(place.recordURL(id))\">\(Shown.text(id.recordName))</a>"
    }
}
