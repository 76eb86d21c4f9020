import Hummingbird
import RecordModel
import RecordStore

/// A change of a share that a form asks for.
enum ShareAction: String, CaseIterable, Sendable {
    case begin
    case invite
    case permission
    /// Grants a user's request for access, or denies it.
    case answer
    case requests
    case anybody
    case remove
    case end

    /// Makes the change of a form.
    func make(_ request: PageRequest, _ console: ConsolePages) async throws -> Response {
        let pages = SharePages(console: console)
        guard self != .begin else { return try await Self.begin(request, pages) }
        let it = try await pages.subject(request.form, request)
        guard pages.changes.areOffered, let user = it.place.user else {
            throw PageFailure.invalid("The console only reads, unless it acts as a user.")
        }
        try Changes.checkConfirmed(request, it.place, confirming: try self.name(request, it, pages))
        if self == .end { try pages.checkOwner(it.place) }
        let (kind, words) = try self.change(request.form, it, pages)
        let change = ShareChange(
            user: user,
            scope: it.place.scope,
            id: it.record.id,
            // The tag that was read with the page, and not the present one.
            changeTag: request.form["tag"],
            kind: kind,
            words: "\(words) \(it.name) of \(user)"
        )
        try await pages.changes.make(.share(change), in: it.place)
        guard self == .end else { return Changes.lead(to: it.url()) }
        guard let root = it.share.root else { return Changes.lead(to: it.place.url(.zones)) }
        return Changes.lead(to: it.place.recordURL(RecordID(zone: it.record.id.zone, recordName: root)))
    }

    private static func begin(_ request: PageRequest, _ pages: SharePages) async throws -> Response {
        var request = request
        request.query = request.form
        let place = try Place(request)
        try pages.checkOwner(place)
        try Changes.checkConfirmed(request, place)
        let zone = pages.console.zone(request.form)
        var id = RecordID(zone: zone, recordName: ShareRecord.zoneWideName)
        var root: RecordSave?
        if request.form["name"] != nil {
            let record = try await pages.console.found(
                request,
                try await pages.console.reader(of: place)
            )
            id.recordName = "Share-" + Secret.make()
            root = RecordSave(
                id: record.id,
                recordType: record.recordType,
                changeTag: record.changeTag,
                changes: RecordBody([])
            )
        }
        let subject = root.map { "the record \($0.id.recordName)" } ?? "the zone \(zone.zoneName)"
        let change = ShareChange(
            user: place.user ?? "",
            scope: place.scope,
            id: id,
            kind: .begin(root: root),
            words: "share \(subject) of \(place.user ?? "")"
        )
        try await pages.changes.make(.share(change), in: place)
        return Changes.lead(to: PageURL(place.url(named: "share").path, place.recordURL(id).items))
    }

    /// The name that has to be typed in every environment; `nil` if there is none.
    private func name(
        _ request: PageRequest,
        _ it: SharePages.Subject,
        _ pages: SharePages
    ) throws(PageFailure) -> String? {
        switch self {
        case .begin, .invite, .permission, .answer, .requests: return nil
        case .remove:
            return ShareWords.name(of: try pages.participant(request.form, it).identity, it.people)
        case .anybody, .end: return it.name
        }
    }

    /// The change, and a beginning of its sentence that the name of the share ends.
    private func change(
        _ form: FormItems,
        _ it: SharePages.Subject,
        _ pages: SharePages
    ) throws(PageFailure) -> (ShareChange.Kind, String) {
        var changes = ShareChanges()
        switch self {
        case .begin, .end: return (.end, "stop sharing")
        case .invite:
            let identity = try Self.identity(form["who"], it.people)
            let permission = try Self.permission(form, [.readOnly, .readWrite])
            let role = form["role"].flatMap { UInt8($0) }.flatMap { ShareRole(rawValue: $0) }
            changes.participants = [
                ShareParticipant(
                    id: Secret.make(),
                    identity: identity,
                    role: role ?? .privateUser,
                    permission: permission
                )
            ]
            let may = ShareWords.text(of: permission)
            let isForAnybody = identity == UserIdentity()
            let words =
                isForAnybody
                ? "make a one-time URL to \(may) the share of"
                : "invite \(ShareWords.name(of: identity, it.people)) to \(may) the share of"
            return (.participants(changes), words)
        case .permission:
            var participant = try pages.participant(form, it)
            participant.permission = try Self.permission(form, [.readOnly, .readWrite])
            changes.participants = [participant]
            let name = ShareWords.name(of: participant.identity, it.people)
            return (
                .participants(changes),
                "let \(name) \(ShareWords.text(of: participant.permission)) the share of"
            )
        case .answer: return try self.answer(form, it, pages)
        case .requests:
            guard let text = form["taken"], ["yes", "no"].contains(text) else {
                throw .invalid("The form does not say whether requests are taken.")
            }
            changes.allowsAccessRequests = text == "yes"
            let words = text == "yes" ? "take" : "no longer take"
            return (.participants(changes), "\(words) requests for access to the share of")
        case .anybody:
            let permission = try Self.permission(form, [.none, .readOnly, .readWrite])
            changes.publicPermission = permission
            let may = permission == .none ? "not join" : ShareWords.text(of: permission)
            return (.participants(changes), "let anybody with the URL \(may) the share of")
        case .remove:
            let participant = try pages.participant(form, it)
            changes.removed = [participant.id]
            return (
                .participants(changes),
                "remove \(ShareWords.name(of: participant.identity, it.people)) from the share of"
            )
        }
    }

    /// Invites the user who asked, by the user record name, or denies the request.
    private func answer(
        _ form: FormItems,
        _ it: SharePages.Subject,
        _ pages: SharePages
    ) throws(PageFailure) -> (ShareChange.Kind, String) {
        var changes = ShareChanges()
        let user = try pages.requester(form, it)
        let permission = try Self.permission(form, [.none, .readOnly, .readWrite])
        let name = it.people.shortName(of: user)
        guard permission != .none else {
            changes.denied = [user]
            return (.participants(changes), "deny \(name) access to the share of")
        }
        changes.participants = [
            ShareParticipant(
                id: Secret.make(),
                identity: UserIdentity(lookup: .userRecordName(user)),
                permission: permission
            )
        ]
        return (
            .participants(changes),
            "let \(name), who asked, \(ShareWords.text(of: permission)) the share of"
        )
    }

    private static func permission(
        _ form: FormItems,
        _ allowed: [SharePermission]
    ) throws(PageFailure) -> SharePermission {
        guard
            let permission = form["permission"].flatMap({ UInt8($0) })
                .flatMap({ SharePermission(rawValue: $0) }), allowed.contains(permission)
        else { throw .invalid("The form has no permission that can be given.") }
        return permission
    }

    /// A user of the container by name, or a person by an address; without either for a one-time URL.
    private static func identity(_ text: String?, _ people: People) throws(PageFailure) -> UserIdentity {
        guard let text else { return UserIdentity() }
        if let user = people.userRecordName(of: text) {
            return UserIdentity(lookup: .userRecordName(user))
        }
        guard let lookup = UserAction.contact(text) else {
            throw .invalid(
                "'\(Shown.beginning(of: text, bytes: 64))' is neither the name of a user of this container, nor an "
                    + "e-mail address or a phone number."
            )
        }
        return UserIdentity(lookup: lookup)
    }
}
