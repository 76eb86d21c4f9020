import RecordModel
import RecordStore

/// The forms of a share's page.
struct ShareForms {
    let it: SharePages.Subject
    let request: PageRequest

    /// The share that a form is about, as it was read.
    static func hidden(_ it: SharePages.Subject) -> Markup {
        let items = it.place.recordURL(it.record.id).items.map { Parts.hidden($0.name, $0.value) }
        return "\(Markup(items))\(Parts.hidden("tag", it.record.changeTag))"
    }

    var markup: Markup {
        """
        \(Parts.section("Requests for access", id: "requests", self.requests))
        \(Parts.section("Invite", id: "invite", self.invite))
        \(self.others.isEmpty ? "" : Parts.section("Permission", id: "permission", self.permission))
        \(Parts.section("Anybody with the URL", id: "public", self.publicPermission))
        """
    }

    private var others: [ShareParticipant] { self.it.share.participants.filter { $0.role != .owner } }

    private func form(
        _ title: String,
        _ action: ShareAction,
        confirming name: String? = nil,
        _ body: Markup
    ) -> Markup {
        Changes.form(
            title,
            action: self.it.url("share/" + action.rawValue),
            self.request,
            place: self.it.place,
            confirming: name,
            "\(Self.hidden(self.it))\(body)"
        )
    }

    private func permissions(_ all: [SharePermission], selected: SharePermission) -> [Markup] {
        all.map {
            Parts.option(
                "\($0.rawValue)",
                ShareWords.text(of: $0),
                isSelected: $0 == selected
            )
        }
    }

    // MARK: Requests

    private var requests: Markup {
        "\(self.it.share.requesters.isEmpty ? "" : self.answer)\(self.taking)"
    }

    /// Buttons for those who ask; the one who asked first comes first.
    private var answer: Markup {
        let names = self.it.share.requesters.map {
            Parts.option(
                $0.userRecordName,
                ShareWords.name(of: $0, self.it.people),
                isSelected: false
            )
        }
        let isOpen = self.it.share.publicPermission != .none
        let invites: Markup = """
            \(self.button("Let them read", .readOnly))
            \(self.button("Let them read and write", .readWrite))
            """
        let note: Markup =
            isOpen
            ? "Anybody with the URL may join now, without a request."
            : "People join with the URL once they are let in. Those who are denied may ask again."
        return Changes.form(
            action: self.it.url("share/" + ShareAction.answer.rawValue),
            self.request,
            place: self.it.place,
            buttons: "\(isOpen ? "" : invites)\(self.button("Deny", .none))",
            """
            \(ShareForms.hidden(self.it))
            <label>Who asks <select name="requester">\(names)</select></label>
            <p class="hint">\(note)</p>
            """
        )
    }

    private func button(_ title: String, _ permission: SharePermission) -> Markup {
        let mark: Markup = permission == .none ? " class=\"second\"" : ""
        return """
            <button type="submit" name="permission" value="\(permission.rawValue)"\(mark)>\(title)</button>
            """
    }

    private var taking: Markup {
        let isTaken = self.it.share.allowsAccessRequests
        return self.form(
            "Set for requests",
            .requests,
            """
            <label>Requests of people who have the URL
            <select name="taken">
            \(Parts.option("yes", "are taken", isSelected: isTaken))
            \(Parts.option("no", "are not taken", isSelected: !isTaken))
            </select>
            </label>
            """
        )
    }

    // MARK: Participants

    private var invite: Markup {
        guard self.it.share.publicPermission == .none else {
            return """
                <p class="hint">Whoever has the URL may join, so nobody has to be invited. To invite people, let anybody
                with the URL do nothing first.</p>
                """
        }
        return self.form(
            "Invite",
            .invite,
            """
            <div class="fields">
            <label>Name of a user, e-mail address or phone number
            <input name="who" list="people" autocomplete="off" spellcheck="false" placeholder="whoever has a one-time URL">
            </label>
            \(Parts.choices("people", Array(self.it.people.userNames.prefix(ConsolePages.rowsMax))))
            <label>May <select name="permission">\(self.permissions([.readOnly, .readWrite], selected: .readOnly))</select></label>
            <label>As
            <select name="role">
            \(Parts.option("\(ShareRole.privateUser.rawValue)", "a participant", isSelected: true))
            \(Parts.option("\(ShareRole.administrator.rawValue)", "an administrator, who invites others", isSelected: false))
            </select>
            </label>
            </div>
            """
        )
    }

    private var permission: Markup {
        let names = self.others.map {
            let name = ShareWords.name(of: $0.identity, self.it.people)
            return Parts.option(
                $0.id,
                "\(name), may \(ShareWords.text(of: $0.permission))",
                isSelected: false
            )
        }
        return self.form(
            "Set the permission",
            .permission,
            """
            <div class="fields">
            <label>Participant <select name="participant">\(names)</select></label>
            <label>May <select name="permission">\(self.permissions([.readOnly, .readWrite], selected: .readOnly))</select></label>
            </div>
            """
        )
    }

    private var publicPermission: Markup {
        self.form(
            "Set for anybody",
            .anybody,
            confirming: self.it.name,
            """
            <label>May <select name="permission">\(self.permissions([.none, .readOnly, .readWrite], selected: self.it.share.publicPermission))</select></label>
            <p>Another permission than now ends all invitations that nobody has accepted. “Nothing” removes everybody but
            the owner.</p>
            """
        )
    }
}
