import RecordModel
import RecordStore

/// The parts of a share in words.
enum ShareWords {
    static func text(of permission: SharePermission) -> String {
        switch permission {
        case .none: "nothing"
        case .readOnly: "read"
        case .readWrite: "read and write"
        case .unknown: "not known"
        }
    }

    static func text(of role: ShareRole) -> String {
        switch role {
        case .owner: "owner"
        case .administrator: "administrator"
        case .privateUser: "invited"
        case .publicUser: "came by the URL"
        case .unknown: "not known"
        }
    }

    static func text(of acceptance: ShareAcceptance) -> String {
        switch acceptance {
        case .pending: "has not joined yet"
        case .accepted: "has joined"
        case .removed: "was removed"
        case .unknown: "not known"
        }
    }

    /// A participant as an operator knows them: what has to be typed to remove them, too.
    static func name(of identity: UserIdentity, _ people: People) -> String {
        if let name = people.name(of: identity.userRecordName) { return name }
        switch identity.lookup {
        case .emailAddress(let text)?, .phoneNumber(let text)?: return text
        case .userRecordName(let name)?: return people.shortName(of: name)
        case nil:
            return identity.userRecordName.isEmpty ? "the one-time URL" : identity.userRecordName
        }
    }

    /// The names of those who ask for access, the first who asked first.
    static func requesters(of share: Share, _ people: People) -> Markup {
        let names = share.requesters.map { self.name(of: $0, people) }
        return Shown.cut(names.joined(separator: ", "), to: 4_096)
    }

    /// The subject of a share: a record with all below it, or a zone.
    static func subject(of share: Share, in zone: ZoneID) -> String { share.root ?? zone.zoneName }

    /// Rows of a table with the participants; `cells` adds some to each.
    static func table(
        of share: Share,
        _ people: People,
        columns: [String] = [],
        cells: (ShareParticipant) -> [Markup] = { _ in [] }
    ) -> Markup {
        Parts.table(
            caption: "\(Shown.count(share.participants.count, "participant"))",
            columns: ["Who", "Role", "May", "State"] + columns,
            rows: share.participants.map { participant in
                [
                    Shown.text(self.name(of: participant.identity, people)),
                    "\(self.text(of: participant.role))", "\(self.text(of: participant.permission))",
                    "\(self.text(of: participant.acceptance))",
                ] + cells(participant)
            }
        )
    }
}
