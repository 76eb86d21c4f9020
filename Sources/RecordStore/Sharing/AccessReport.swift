package import RecordModel
package import StorageContract

/// A report of the rights of each user and role to one record, with reasons.
///
/// It is for an operator, in the words of a command line.
package struct AccessReport: Hashable, Sendable {
    /// The rights of one user or role.
    package struct Line: Hashable, Sendable {
        /// A user record name, or the name of a role.
        package var who: String
        /// Empty if the user has not joined yet, or may do nothing.
        package var may: Permissions
        package var why: String

        package init(who: String, may: Permissions, why: String) {
            self.who = who
            self.may = may
            self.why = why
        }
    }

    package var recordType: String
    package var lines: [Line]

    package init(recordType: String, lines: [Line]) {
        self.recordType = recordType
        self.lines = lines
    }
}

extension AccessReport {
    /// Reports on one record; `nil` if there is no such zone or record.
    package init?(
        of id: RecordID,
        in requester: Requester,
        snapshot: any Snapshot
    ) throws(StorageFailure) {
        guard let zone = try snapshot.zone(named: id.zone.zoneName, in: requester.database),
            let record = try snapshot.record(named: id.recordName, in: zone)
        else { return nil }
        self.init(recordType: record.recordType, lines: [])
        guard requester.scope == .private else {
            let type = try snapshot.type(named: record.recordType, in: requester.environment)
            self.lines = SchemaRules.grantsInForce(type?.grants ?? [], ofType: record.recordType).map {
                Line(who: $0.role, may: $0.permissions, why: Self.reason($0.role, record))
            }
            return
        }
        self.lines.append(
            Line(
                who: requester.userRecordName ?? "",
                may: [.create, .read, .write],
                why: "owns the private database"
            )
        )
        guard let share = try snapshot.share(covering: RecordKey(zone: zone, number: record.number)),
            let shareRecord = try snapshot.record(named: share.name, in: zone),
            let contents = shareRecord.body.share
        else { return }
        let what = share.root.map { "the share '\(share.name)' of '\($0)'" } ?? "the share of the zone"
        for participant in contents.participants where participant.role != .owner {
            self.lines.append(Self.line(participant, what))
        }
        guard contents.publicPermission != .none else { return }
        self.lines.append(
            Line(
                who: "anybody with the URL",
                may: contents.publicPermission.permissions,
                why: "after joining \(what), which lets anybody \(contents.publicPermission.words)"
            )
        )
    }

    private static func reason(_ role: String, _ record: StoredRecord) -> String {
        switch role {
        case SystemRole.world: "everybody, by the grants of the type"
        case SystemRole.signedIn: "whoever is signed in, by the grants of the type"
        case SystemRole.creator:
            "\(record.system.createdBy), who created the record, by the grants of the type"
        default: "users with the role, by the grants of the type"
        }
    }

    private static func line(_ participant: ShareParticipant, _ what: String) -> Line {
        var who = participant.identity.userRecordName
        if who.isEmpty {
            who =
                switch participant.identity.lookup {
                case .emailAddress(let text), .phoneNumber(let text), .userRecordName(let text): text
                case nil: "whoever uses the one-time URL first"
                }
        }
        let hasJoined = participant.acceptance == .accepted
        let role = "\(participant.role.words) who may \(participant.permission.words)"
        return Line(
            who: who,
            may: hasJoined ? participant.permission.permissions : [],
            why: hasJoined ? "\(role), in \(what)" : "\(role) after joining \(what)"
        )
    }
}

extension ShareRole {
    /// As the subject of a reason.
    var words: String {
        switch self {
        case .owner: "owner"
        case .administrator: "administrator"
        case .privateUser: "invited user"
        case .publicUser: "user with the URL"
        case .unknown: "participant of an unknown role"
        }
    }
}

extension SharePermission {
    /// After "may".
    var words: String {
        switch self {
        case .none: "do nothing"
        case .readOnly: "read"
        case .readWrite: "read and write"
        case .unknown: "do what is not known"
        }
    }

    /// The rights to shared records.
    fileprivate var permissions: Permissions {
        switch self {
        case .unknown, .none: []
        case .readOnly: .read
        case .readWrite: [.create, .read, .write]
        }
    }
}
