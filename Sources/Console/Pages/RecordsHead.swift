import Foundation
import RecordModel
import RecordStore

/// The head that the pages of records have in common.
extension ConsolePages {
    /// The database and the tabs of the records' pages.
    func recordsHead(_ place: Place, _ request: PageRequest, current: String) async throws -> Markup {
        let action = place.url(.records, current == "query" ? "" : "/\(current)").path
        let kept = ["type", "zone"].compactMap { name in
            request.query[name].map { PageURL.Item(name, $0) }
        }
        let database = try await self.databaseForm(action: action, place, keeping: kept)
        let tabs = ["query", "fetch", "changes", "snapshot", "import"].map { tab in
            (
                title: tab.prefix(1).uppercased() + tab.dropFirst(),
                url: place.url(.records, tab == "query" ? "" : "/\(tab)")
                    .adding("zone", tab == "query" ? nil : request.query["zone"]),
                isCurrent: tab == current
            )
        }
        return "\(database)\(Parts.tabs("Ways to find records", tabs))"
    }

    /// Fields for a zone, with the names of the existing ones.
    ///
    /// The key `/` goes to a filter.
    func zoneFields(_ place: Place, _ request: PageRequest, isFilter: Bool = false) async -> Markup {
        let filter: Markup = isFilter ? " data-filter" : ""
        return """
            <label>Zone
            <input name="zone"\(filter) list="zones" value="\(request.query["zone"] ?? "")" placeholder="\(ZoneID.defaultZoneName)" autocomplete="off" spellcheck="false">
            </label>
            \(Parts.choices("zones", await self.zoneNames(of: place)))
            \(self.ownerField(place, request))
            """
    }

    /// The names of a private database's zones; none where they cannot be read.
    func zoneNames(of place: Place) async -> [String] {
        guard place.scope == .private, place.user != nil,
            let reader = try? await self.reader(of: place),
            let page = try? await reader.zoneExtents(after: nil, limit: Self.rowsMax)
        else { return [] }
        return page.zones.map(\.name)
    }

    /// A field for the owner of a zone, where zones have other owners.
    func ownerField(_ place: Place, _ request: PageRequest) -> Markup {
        guard place.scope == .shared else { return "" }
        return """
            <label>Owner of the zone
            <input name="owner" value="\(request.query["owner"] ?? "")" placeholder="user record name" autocomplete="off" spellcheck="false">
            </label>
            """
    }
}
