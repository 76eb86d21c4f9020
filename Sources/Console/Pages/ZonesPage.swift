import RecordModel
import RecordStore
import StorageContract

/// The zones of a database.
struct ZonePages: Sendable {
    let console: ConsolePages

    func zones(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        var body = try await self.console.databaseForm(action: place.url(.zones).path, place)
        let reader = try await self.console.reader(of: place)
        do throws(StoreError) {
            body +=
                place.scope == .shared
                ? self.sharedZones(try await reader.zones(), place)
                : try await self.ownZones(after: request.query["after"], place, reader)
        } catch {
            throw PageFailure(error, doing: "The zones cannot be read")
        }
        return self.console.page("Zones", request, place: place, section: .zones, body)
    }

    private func ownZones(
        after position: String?,
        _ place: Place,
        _ reader: DatabaseReader
    ) async throws(StoreError) -> Markup {
        let page = try await reader.zoneExtents(
            after: position.flatMap { Int64($0) },
            limit: ConsolePages.rowsMax
        )
        let rows = page.zones.map { zone -> [Markup] in
            let id = ZoneID(zoneName: zone.name)
            return [
                "<a href=\"\(self.snapshotURL(of: id, place))\">\(Shown.text(zone.name))</a>",
                "<span class=\"number\">\(Shown.number(zone.records))</span>",
                "<span class=\"number\">\(Shown.bytes(zone.bytes))</span>",
                "<span class=\"number\">\(Shown.number(zone.position))</span>",
                self.text(of: zone.encryptionScope),
                SharePages(console: self.console).link(of: zone, place),
                """
                <a href="\(self.changesURL(of: id, place))">Changes</a>
                \(ZoneDeletionPages(console: self.console).link(zone.name, place))
                """,
            ]
        }
        let table = Parts.table(
            caption: "Zones of \(place.databaseText), in the order of their last changes",
            columns: ["Zone", "Records", "Size", "Last position", "Encryption scope", "Shared", "Actions"],
            rows: rows,
            empty: "The database has no zones here.",
            isRowList: true
        )
        let next = page.next.map { place.url(.zones).adding("after", "\($0)") }
        return "\(table)\(Parts.next(next))"
    }

    private func sharedZones(_ zones: [Zone], _ place: Place) -> Markup {
        let rows = zones.prefix(ConsolePages.rowsMax).map { zone -> [Markup] in
            [
                "<a href=\"\(self.snapshotURL(of: zone.id, place))\">\(Shown.text(zone.id.zoneName))</a>",
                "<code>\(zone.id.ownerName)</code>", zone.share == nil ? "records of it" : "as a whole",
                self.text(of: zone.encryptionScope),
                "<a href=\"\(self.changesURL(of: zone.id, place))\">Changes</a>",
            ]
        }
        let more: Markup =
            zones.count > ConsolePages.rowsMax
            ? "<p>The first \(ConsolePages.rowsMax) of \(zones.count).</p>" : ""
        let table = Parts.table(
            caption: "Zones that others share, in \(place.databaseText)",
            columns: ["Zone", "Owner", "Shared", "Encryption scope", "Follow"],
            rows: rows,
            empty: "Nobody shares a zone with this user.",
            isRowList: true
        )
        return "\(table)\(more)"
    }

    /// As Apple's framework names it.
    private func text(of scope: EncryptionScope) -> Markup {
        switch scope {
        case .perRecord: "perRecord"
        case .perZone: "perZone"
        }
    }

    private func snapshotURL(of zone: ZoneID, _ place: Place) -> PageURL {
        place.url(.records, "/snapshot").adding("zone", zone.zoneName)
            .adding("owner", zone.ownerName.isEmpty ? nil : zone.ownerName).adding("order", "newest")
    }

    private func changesURL(of zone: ZoneID, _ place: Place) -> PageURL {
        place.url(.records, "/changes").adding("zone", zone.zoneName)
            .adding("owner", zone.ownerName.isEmpty ? nil : zone.ownerName)
    }
}
