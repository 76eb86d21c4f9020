import Hummingbird
import RecordModel
import RecordStore

/// A share of a record or a zone: its participants, and what its owner may change about them.
///
///     record, zone ─► begin ─► share ─► invite, permission, answer, requests, URL
///                                 │
///                                 └───► remove, end (with a name that is typed)
struct SharePages: Sendable {
    let console: ConsolePages

    var changes: Changes { Changes(console: self.console) }

    /// The contents of the pages of a share.
    struct Subject: Sendable {
        var place: Place
        var record: Record
        var share: Share
        var people: People

        /// The name of the record or zone that is shared.
        var name: String { ShareWords.subject(of: self.share, in: self.record.id.zone) }

        /// Whether the user who is acted as decides who takes part.
        var isManaged: Bool {
            self.place.user.flatMap { self.people.userRecordName(of: $0) }
                .map { self.share.isManaged(by: $0) } ?? false
        }

        /// A page of the share, such as "share/remove".
        func url(_ page: String = "share") -> PageURL {
            PageURL(self.place.url(named: page).path, self.place.recordURL(self.record.id).items)
        }
    }

    // MARK: Links

    /// The name of the share that has a record as its root; `nil` if the record is no root.
    static func nameOfShare(beginningAt record: Record) -> String? {
        let field = record.body.fields.first { $0.name == ShareRecord.referenceField }
        guard case .reference(let reference)? = field?.value else { return nil }
        return reference.recordName
    }

    /// The share of a record, of one above it, or of the whole zone; `nil` if there is none.
    static func share(
        covering record: Record,
        _ ancestors: RecordPages.Ancestors,
        _ place: Place,
        _ reader: DatabaseReader
    ) async -> Record? {
        guard place.scope == .private, !record.id.zone.isDefault else { return nil }
        let name = ancestors.share ?? ShareRecord.zoneWideName
        let id = RecordID(zone: record.id.zone, recordName: name)
        guard case .record(let share)? = try? await reader.fetch([id]).first else { return nil }
        return share
    }

    /// The link on the page of a record: to the share that covers it, or to the beginning of one.
    ///
    /// It says how many people ask for access.
    func link(of record: Record, _ share: Record?, _ place: Place) -> Markup {
        guard place.user != nil, place.scope != .public else { return "" }
        if record.recordType == ShareRecord.type {
            return self.link("Participants", "share", record.id, place)
        }
        guard place.scope == .private else { return "" }
        if let share {
            let isOwn = Self.nameOfShare(beginningAt: record) != nil
            let link = self.link(isOwn ? "Its share" : "The share that covers it", "share", share.id, place)
            let count = share.body.share?.requesters.count ?? 0
            guard count > 0 else { return link }
            let words = count == 1 ? "1 person asks" : "\(count) people ask"
            return "\(link) <span class=\"hint\">\(words) for access</span>"
        }
        guard self.changes.areOffered, !record.id.zone.isDefault else { return "" }
        return self.link("Share", "share/begin", record.id, place)
    }

    /// The link in the list of zones.
    func link(of zone: ZoneExtent, _ place: Place) -> Markup {
        let id = ZoneID(zoneName: zone.name)
        if let share = zone.share {
            return self.link("As a whole", "share", RecordID(zone: id, recordName: share), place)
        }
        guard self.changes.areOffered, place.scope == .private, !id.isDefault else { return "–" }
        let url = place.url(named: "share/begin").adding("zone", zone.name)
        return "<a href=\"\(url)\" aria-label=\"Share the zone \(zone.name)\">Share</a>"
    }

    private func link(_ title: StaticString, _ page: String, _ id: RecordID, _ place: Place) -> Markup {
        let url = PageURL(place.url(named: page).path, place.recordURL(id).items)
        return "<a href=\"\(url)\">\(Markup(stringLiteral: title))</a>"
    }

    // MARK: The page

    func share(_ request: PageRequest) async throws -> Page {
        let it = try await self.subject(request.query, request)
        let mayChange = self.changes.areOffered && it.isManaged
        let isOwn = it.place.scope == .private
        var body: Markup = """
            <p class="lead">\(self.lead(of: it))</p>
            \(self.facts(of: it))
            \(Parts.section("Participants", id: "participants", self.participants(of: it, mayChange: mayChange)))
            """
        if mayChange {
            body += ShareForms(it: it, request: request).markup
            if isOwn { body += self.endLink(it) }
        }
        return self.page("Share of \(it.name)", it, request, body)
    }

    private func lead(of it: Subject) -> Markup {
        it.share.root == nil
            ? "All records of the zone \(Shown.text(it.name)) in \(it.place.databaseText)"
            : "The record \(RecordLink.markup(RecordID(zone: it.record.id.zone, recordName: it.name), in: it.place)) with all records below it, in \(it.place.databaseText)"
    }

    private func facts(of it: Subject) -> Markup {
        let blocked = it.share.blocked.map { ShareWords.name(of: $0, it.people) }
        var facts: [(String, Markup)] = [
            ("Anybody with the URL may", "\(ShareWords.text(of: it.share.publicPermission))"),
            ("URL", "<code>\(self.url(of: it.share.token))</code>"),
            ("Requests for access", it.share.allowsAccessRequests ? "are taken" : "are not taken"),
        ]
        if !it.share.requesters.isEmpty {
            facts.append(("Ask for access", ShareWords.requesters(of: it.share, it.people)))
        }
        if !blocked.isEmpty {
            facts.append(("Shut out", Shown.cut(blocked.joined(separator: ", "), to: 4_096)))
        }
        return Parts.list(facts)
    }

    /// A URL of a share at the address where the server listens; clients may know it by another name.
    private func url(of token: String) -> String {
        guard case .serving(let address) = self.console.configuration.serverState() else {
            return "tidemark://HOST/share/\(token)"
        }
        return "tidemark://\(address)/share/\(token)"
    }

    private func participants(of it: Subject, mayChange: Bool) -> Markup {
        let hasTokens = it.share.participants.contains { !$0.oneTimeToken.isEmpty }
        let columns = (hasTokens ? ["One-time URL"] : []) + (mayChange ? ["Change"] : [])
        return ShareWords.table(of: it.share, it.people, columns: columns) { participant in
            let token: [Markup] =
                hasTokens
                ? [
                    participant.oneTimeToken.isEmpty
                        ? "" : "<code>\(self.url(of: participant.oneTimeToken))</code>"
                ] : []
            let isOwner = participant.role == .owner
            let name = ShareWords.name(of: participant.identity, it.people)
            let link: Markup =
                """
                <a href="\(it.url("share/remove").adding("participant", participant.id))" aria-label="Remove \(name)">Remove</a>
                """
            return token + (mayChange ? [isOwner ? "" : link] : [])
        }
    }

    private func endLink(_ it: Subject) -> Markup {
        Parts.section(
            "End",
            id: "end",
            "<p class=\"pages\"><a href=\"\(it.url("share/end"))\">Stop sharing \(Shown.text(it.name))</a></p>"
        )
    }

    // MARK: Confirmations

    func begin(_ request: PageRequest) async throws -> Page {
        let place = try Place(request)
        try self.checkOwner(place)
        let zone = self.console.zone(request.query)
        guard !zone.isDefault else {
            throw PageFailure.invalid("Records of the default zone cannot be shared: move them to another.")
        }
        let what: Markup
        let back: Markup
        let name: String
        if request.query["name"] == nil {
            name = zone.zoneName
            back = "<a href=\"\(place.url(.zones))\">Back to the zones</a>"
            what = "the zone \(Shown.text(name)) with all its records, and those that will be in it"
        } else {
            let record = try await self.console.found(request, try await self.console.reader(of: place))
            name = record.id.recordName
            back = "<a href=\"\(place.recordURL(record.id))\">Back to the record</a>"
            what = "the record \(Shown.text(name)) with all records below it"
        }
        let body: Markup = """
            <p>This shares \(what), of \(place.databaseText). Nobody has access yet: the next page invites people.</p>
            \(Changes.form(
                "Share",
                action: place.url(named: "share/begin"),
                request,
                place: place,
                "\(place.hiddenFields)\(Parts.hidden("zone", zone.zoneName))\(Parts.hidden("name", request.query["name"]))"
            ))
            <p class="screen">\(back)</p>
            """
        return self.console.page("Share \(name)", request, place: place, section: .records, body)
    }

    func remove(_ request: PageRequest) async throws -> Page {
        let it = try await self.subject(request.query, request)
        let participant = try self.participant(request.query, it)
        let name = ShareWords.name(of: participant.identity, it.people)
        let text: Markup =
            participant.acceptance == .accepted
            ? "Installations of \(Shown.text(name)) remove their copies of the records."
            : "The invitation ends: nobody joins with it any more."
        let body: Markup = """
            <p>This removes \(Shown.text(name)) from the share of \(Shown.text(it.name)). \(text)</p>
            \(Changes.form(
                "Remove",
                action: it.url("share/remove"),
                request,
                place: it.place,
                confirming: name,
                "\(ShareForms.hidden(it))\(Parts.hidden("participant", participant.id))"
            ))
            <p class="screen"><a href="\(it.url())">Back to the share</a></p>
            """
        return self.page("Remove \(name)", it, request, body)
    }

    func end(_ request: PageRequest) async throws -> Page {
        let it = try await self.subject(request.query, request)
        let others = it.share.participants.count { $0.role != .owner }
        let body: Markup = """
            <p>This ends the share of \(Shown.text(it.name)). \(Shown.count(others, "participant")) beside the owner lose
            the records, and their installations remove the copies. One-time URLs end. The records stay.</p>
            \(Changes.form(
                "Stop sharing",
                action: it.url("share/end"),
                request,
                place: it.place,
                confirming: it.name,
                ShareForms.hidden(it)
            ))
            <p class="screen"><a href="\(it.url())">Back to the share</a></p>
            """
        return self.page("Stop sharing \(it.name)", it, request, body)
    }

    // MARK: The share of a page

    /// The share that a page or a form names.
    func subject(_ items: FormItems, _ request: PageRequest) async throws -> Subject {
        var request = request
        request.query = items
        let place = try Place(request)
        let record = try await self.console.found(request, try await self.console.reader(of: place))
        guard let share = record.body.share else {
            throw PageFailure.missing("The record \(record.id.recordName) is no share.")
        }
        return Subject(
            place: place,
            record: record,
            share: share,
            people: try await self.console.people(of: place)
        )
    }

    func participant(_ items: FormItems, _ it: Subject) throws(PageFailure) -> ShareParticipant {
        guard let id = items["participant"],
            let found = it.share.participants.first(where: { $0.id == id }), found.role != .owner
        else { throw .missing("The share has no such participant: somebody may have removed them.") }
        return found
    }

    /// The user record name of a user who asks for access.
    func requester(_ items: FormItems, _ it: Subject) throws(PageFailure) -> String {
        guard let user = items["requester"],
            it.share.requesters.contains(where: { $0.userRecordName == user })
        else { throw .missing("Nobody of that name asks for access: somebody may have answered them.") }
        return user
    }

    func checkOwner(_ place: Place) throws(PageFailure) {
        guard self.changes.areOffered else { throw .invalid("The console only reads.") }
        guard place.scope == .private, place.user != nil else {
            throw .invalid("Records of a user's private database can be shared: choose one.")
        }
    }

    private func page(_ title: String, _ it: Subject, _ request: PageRequest, _ body: Markup) -> Page {
        self.console.page(title, request, place: it.place, section: .records, body)
    }
}
