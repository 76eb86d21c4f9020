import Hummingbird
import RecordModel
import RecordStore
import StorageContract

/// Deleting a zone of a user's private database.
struct ZoneDeletionPages: Sendable {
    let console: ConsolePages

    /// The link on the page of zones; nothing where no zone can be deleted.
    func link(_ zone: String, _ place: Place) -> Markup {
        guard Changes(console: self.console).areOffered, place.scope == .private,
            zone != ZoneID.defaultZoneName
        else { return "" }
        return "<a href=\"\(place.url(.zones, "/delete").adding("zone", zone))\">Delete</a>"
    }

    func delete(_ request: PageRequest) async throws -> Page {
        let (place, zone) = try self.subject(request.query, request)
        let reader = try await self.console.reader(of: place)
        let totals: SnapshotTotals?
        do throws(StoreError) {
            totals = try await reader.changes(FeedRead(zone: ZoneID(zoneName: zone), limit: 1)).end.totals
        } catch {
            throw PageFailure(error, doing: "The zone cannot be read")
        }
        let body: Markup = """
            <p>This deletes the zone \(Shown.text(zone)) of \(place.databaseText) for good, with all that is in it:</p>
            \(Parts.list([
                ("Records", "\(Shown.number(Int64(clamping: totals?.records ?? 0)))"),
                ("Size of their fields", "\(Shown.bytes(Int64(clamping: totals?.bytes ?? 0)))"),
            ]))
            <p>Participants of its shares lose them. Installations of the user remove their copies.</p>
            \(Changes.form(
                "Delete for good",
                action: place.url(.zones, "/delete"),
                request,
                place: place,
                confirming: zone,
                Parts.hidden("zone", zone)
            ))
            <p class="screen"><a href="\(place.url(.zones))">Back to the zones</a></p>
            """
        return self.console.page("Delete \(zone)", request, place: place, section: .zones, body)
    }

    func makeDelete(_ request: PageRequest) async throws -> Response {
        let (place, zone) = try self.subject(request.form, request)
        try Changes.checkConfirmed(request, place, confirming: zone)
        try await Changes(console: self.console)
            .make(.deleteZone(zone, user: place.user ?? ""), in: place)
        return Changes.lead(to: place.url(.zones))
    }

    private func subject(
        _ items: FormItems,
        _ request: PageRequest
    ) throws(PageFailure) -> (Place, String) {
        let place = try Place(request)
        guard Changes(console: self.console).areOffered else { throw .invalid("The console only reads.") }
        guard place.scope == .private, place.user != nil else {
            throw .invalid("Zones of a user's private database can be deleted: choose one.")
        }
        guard let zone = items["zone"] else { throw .invalid("The page names no zone.") }
        guard zone != ZoneID.defaultZoneName else { throw .invalid("The default zone stays.") }
        return (place, zone)
    }
}
