import Hummingbird
import RecordJSON
import RecordModel
import RecordStore
import StorageContract

/// Changes of a zone, and its records as a client fetches them.
struct ChangePages: Sendable {
    let console: ConsolePages

    func changes(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        var body = try await self.console.recordsHead(place, request, current: "changes")
        let start = request.query["from"] ?? "now"
        body += """
            <form class="query" method="get" action="\(place.url(.records, "/changes").path)">
            \(place.hiddenFields)
            \(await self.console.zoneFields(place, request, isFilter: true))
            <label>From
            <select name="from">
            \(Parts.option("now", "now", isSelected: start == "now"))
            \(Parts.option("beginning", "the beginning", isSelected: start == "beginning"))
            </select>
            </label>
            <label class="wide"><span>or from behind a token, as <code>tidemark records changes</code> prints it</span>
            <input name="token" value="\(request.query["token"] ?? "")" autocomplete="off" spellcheck="false">
            </label>
            <p class="actions"><button type="submit">Show changes</button></p>
            </form>
            """
        let isAsked =
            request.query["zone"] != nil || request.query["from"] != nil || request.query["token"] != nil
        guard isAsked || place.scope == .public else {
            return self.console.page("Changes", request, place: place, section: .records, body)
        }
        body += try await self.changed(start, place, request)
        return self.console.page("Changes", request, place: place, section: .records, body)
    }

    private func changed(_ start: String, _ place: Place, _ request: PageRequest) async throws -> Markup {
        let reader = try await self.console.reader(of: place)
        let zone = self.console.zone(request.query)
        let feed = ChangeFeed(reader: reader, zone: zone)
        let page = try await feed.page(after: self.token(request.query["token"]), fromNow: start == "now")
        let here = PageURL(place.url(.records, "/changes").path, place.url(.records).items)
            .adding("zone", request.query["zone"]).adding("owner", request.query["owner"])
        let after = here.adding("token", TokenText.text(page.end.token))
        let events = PageURL(place.url(named: "changes/events").path, after.items)
        let table = Parts.table(
            caption:
                "Changes in the zone \(Shown.text(zone.zoneName)) of \(place.databaseText), oldest first",
            columns: ["Record", "Type", "Change", "At", "By"],
            rows: self.rows(page.items, try await self.console.people(of: place), place),
            empty: "Nothing has changed since.",
            isRowList: true
        )
        let more: Markup =
            page.end.moreComing
            ? Parts.next(after)
            : """
            <p class="live" data-events="\(events)"><span role="status" aria-live="polite" data-live-state>
            <a href="\(after)">Look again</a></span></p>
            """
        return """
            \(table)
            <div id="live" class="scroll"></div>
            \(more)
            \(Parts.copied("The token behind these changes", id: "token", TokenText.text(page.end.token)))
            \(try await self.files("changes", place, here.adding("token", request.query["token"]).items))
            """
    }

    private func files(_ tab: String, _ place: Place, _ items: [PageURL.Item]) async throws -> Markup {
        let types = try await self.console.schema(of: place).recordTypes.map(\.name)
        return ExportPages.links(from: tab, types: types.filter { $0 != UserRecord.type }, place, items)
    }

    private func rows(_ items: FeedItems, _ people: People, _ place: Place) -> [[Markup]] {
        items.records.map { record in
            [
                RecordLink.markup(record.id, in: place), Shown.text(record.recordType),
                record.system.createdMilliseconds == record.system.modifiedMilliseconds ? "created" : "saved",
                Shown.time(milliseconds: record.system.modifiedMilliseconds),
                Shown.text(people.shortName(of: record.system.modifiedBy)),
            ]
        }
            + items.deletions.map { deleted in
                [
                    Shown.text(deleted.id.recordName), Shown.text(deleted.recordType),
                    "<span class=\"deleted\">deleted</span>", "", "",
                ]
            }
    }

    private func token(_ text: String?) throws -> [UInt8]? {
        guard let text else { return nil }
        guard let token = TokenText.bytes(text) else {
            throw PageFailure.invalid("This is no token: paste what syncToken says.")
        }
        return token
    }

    // MARK: Snapshot

    func snapshot(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        var body = try await self.console.recordsHead(place, request, current: "snapshot")
        let isNewestFirst = request.query["order"] != "creation"
        body += """
            <form class="query" method="get" action="\(place.url(.records, "/snapshot").path)">
            \(place.hiddenFields)
            \(await self.console.zoneFields(place, request, isFilter: true))
            <label>Order
            <select name="order">
            \(Parts.option("newest", "newest first", isSelected: isNewestFirst))
            \(Parts.option("creation", "as created", isSelected: !isNewestFirst))
            </select>
            </label>
            <p class="actions"><button type="submit">Show the zone</button></p>
            </form>
            """
        let isAsked = request.query["zone"] != nil || request.query["order"] != nil || place.scope == .public
        if isAsked { body += try await self.snapshotPage(isNewestFirst, place, request) }
        return self.console.page("Snapshot", request, place: place, section: .records, body)
    }

    private func snapshotPage(
        _ isNewestFirst: Bool,
        _ place: Place,
        _ request: PageRequest
    ) async throws -> Markup {
        let reader = try await self.console.reader(of: place)
        let zone = self.console.zone(request.query)
        let feed = ChangeFeed(reader: reader, zone: zone, order: isNewestFirst ? .newestFirst : .creation)
        let page = try await feed.page(after: self.token(request.query["token"]), fromNow: false)
        let here = PageURL(place.url(.records, "/snapshot").path, place.url(.records).items)
            .adding("zone", request.query["zone"]).adding("owner", request.query["owner"])
            .adding("order", isNewestFirst ? "newest" : "creation")
            .adding("token", TokenText.text(page.end.token))
        let changes = PageURL(place.url(.records, "/changes").path, here.setting("order", nil).items)
        let totals = page.end.totals.map { totals -> Markup in
            "<p>The zone had \(Shown.count(Int64(totals.records), "record")) with \(Shown.bytes(Int64(totals.bytes))) when the snapshot began.</p>"
        }
        let order = isNewestFirst ? "newest first" : "as created"
        let table = Parts.table(
            caption:
                "Records in the zone \(Shown.text(zone.zoneName)) of \(place.databaseText), \(order), parents before their children",
            columns: ["Record", "Type", "Last change", "At", "By"],
            rows: self.rows(page.items, try await self.console.people(of: place), place),
            empty: "The zone has no records here.",
            isRowList: true
        )
        let rest: Markup =
            page.end.moreComing
            ? Parts.next(here)
            : "<p>The snapshot is complete. <a href=\"\(changes)\">What changes from here on</a></p>"
        let files = try await self.files("snapshot", place, here.setting("token", nil).items)
        return "\(totals)\(table)\(rest)\(files)"
    }
}

/// A zone's feed, a page at a time.
struct ChangeFeed: Sendable {
    let reader: DatabaseReader
    let zone: ZoneID
    var order = FetchChanges.SnapshotOrder.creation

    /// Reads the page after a token; without one from the beginning, or from now on.
    ///
    /// - Throws: `PageFailure`.
    func page(after token: [UInt8]?, fromNow: Bool) async throws -> (items: FeedItems, end: FeedPageEnd) {
        do throws(StoreError) {
            var start = token
            if start == nil, fromNow { start = try await self.reader.token(of: self.zone) }
            return try await self.reader.changes(
                FeedRead(zone: self.zone, token: start, order: self.order, limit: ConsolePages.rowsMax)
            )
        } catch {
            throw PageFailure(error, doing: "The changes cannot be read")
        }
    }
}
