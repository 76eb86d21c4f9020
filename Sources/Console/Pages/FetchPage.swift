import Foundation
import RecordModel
import RecordStore
import StorageContract

/// Records by name.
struct FetchPages: Sendable {
    let console: ConsolePages

    func fetch(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        let text = request.query["names"] ?? ""
        let names = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
        var body = try await self.console.recordsHead(place, request, current: "fetch")
        body += """
            <form class="query" method="get" action="\(place.url(.records, "/fetch").path)">
            \(place.hiddenFields)
            \(await self.console.zoneFields(place, request))
            <label class="wide">Names of records, one a line
            <textarea name="names" rows="6" data-filter spellcheck="false">\(text)</textarea>
            </label>
            <p class="actions"><button type="submit">Fetch</button></p>
            </form>
            """
        if !names.isEmpty {
            let reader = try await self.console.reader(of: place)
            body += try await self.fetched(Array(names.prefix(ConsolePages.rowsMax)), place, request, reader)
            if names.count > ConsolePages.rowsMax {
                body += Parts.notice("The first \(ConsolePages.rowsMax) names are shown.")
            }
        }
        return self.console.page("Fetch", request, place: place, section: .records, body)
    }

    private func fetched(
        _ names: [String],
        _ place: Place,
        _ request: PageRequest,
        _ reader: DatabaseReader
    ) async throws -> Markup {
        let zone = self.console.zone(request.query)
        let outcomes: [ReadOutcome]
        do throws(StoreError) {
            outcomes = try await reader.fetch(names.map { RecordID(zone: zone, recordName: $0) })
        } catch {
            throw PageFailure(error, doing: "The records cannot be read")
        }
        let rows = zip(names, outcomes).map { name, outcome -> [Markup] in
            switch outcome {
            case .record(let record):
                let fields = record.body.fields.map { field in
                    "\(field.name)=\(field.isEncrypted ? "(encrypted)" : ValueMarkup.line(field.value))"
                }
                return [
                    RecordLink.markup(record.id, in: place), Shown.text(record.recordType),
                    Shown.time(milliseconds: record.system.modifiedMilliseconds),
                    Shown.cut(fields.joined(separator: "  ")),
                ]
            case .failed(let error):
                return [Shown.text(name), "", "", "<span class=\"error\">\(error.row.text)</span>"]
            case .zone, .shareMetadata, .identity, .explanation: return [Shown.text(name), "", "", ""]
            }
        }
        return Parts.table(
            caption:
                "\(Shown.count(rows.count, "name")) in the zone \(Shown.text(zone.zoneName)) of \(place.databaseText)",
            columns: ["Name", "Type", "Changed", "Fields"],
            rows: rows,
            isRowList: true
        )
    }
}
