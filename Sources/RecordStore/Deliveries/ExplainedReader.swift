import RecordModel
import StorageContract

/// A user in the explanation of a record: their rights to it, and from where they follow it.
struct ExplainedReader {
    /// A user record name; an address if no user has joined with it.
    var name: String
    var may: Permissions
    var why: String
    /// The user's shared database, if the record comes to them by a share.
    var sharedDatabase: DatabaseID?
    /// Tokens of the user from before this position are of no use.
    var expiredThrough: Int64 = 0
    /// The position at which the record came under the user's share.
    var arrival: Int64 = 0
    /// Whether the user may read the whole zone.
    var readsZone = false

    var mayRead: Bool { self.may.contains(.read) }
}

extension ExplainExecution {
    /// The users whom the requester may see: readers of the record, users invited to it,
    /// and followers of the zone.
    func readers(
        of subject: Subject,
        whoCame users: [String]
    ) throws(StorageFailure) -> [ExplainedReader] {
        switch self.requester.scope {
        case .public:
            let names = self.seesAll ? users : [self.requester.userRecordName].compactMap { $0 }
            var readers: [ExplainedReader] = []
            for name in names { readers.append(try self.publicReader(name, of: subject)) }
            return readers
        case .shared:
            return try self.participant(
                self.requester.userRecordName ?? "",
                self.requester.database,
                of: subject
            ).map { [$0] } ?? []
        case .private:
            return try self.privateReaders(of: subject, whoCame: users)
        }
    }

    private func publicReader(
        _ name: String,
        of subject: Subject
    ) throws(StorageFailure) -> ExplainedReader {
        let access = try self.access(to: subject.stored, of: name)
        let own = access.creator == subject.stored.system.createdBy ? access.toOwn : []
        return ExplainedReader(
            name: name,
            may: access.toAll.union(own),
            why: access.mayRead(subject.stored)
                ? "by the grants of the type '\(subject.stored.recordType)' to the user's roles"
                : "no role of the user has READ in the grants of the type '\(subject.stored.recordType)'"
        )
    }

    /// The rights of a user in the public database, independent of the requester.
    func access(to record: StoredRecord, of name: String) throws(StorageFailure) -> TypeAccess {
        let user = Requester(
            database: self.requester.database,
            scope: .public,
            environment: self.requester.environment,
            userRecordName: name
        )
        return try self.snapshot.access(toType: record.recordType, for: user)
    }

    private func privateReaders(
        of subject: Subject,
        whoCame users: [String]
    ) throws(StorageFailure) -> [ExplainedReader] {
        var readers = [
            ExplainedReader(
                name: self.requester.userRecordName ?? "",
                may: [.create, .read, .write],
                why: "owns the private database",
                readsZone: true
            )
        ]
        if let share = try self.snapshot.share(covering: subject.key) {
            for row in try self.snapshot.rows(RowRange(ShareReaderRow.byShare, share.number)) {
                guard let database = try self.snapshot.row(DatabaseRow.byKey, row.reader),
                    let user = try self.snapshot.row(UserRow.byKey, database.owner),
                    let reader = try self.participant(user.recordName, row.reader, of: subject)
                else { continue }
                readers.append(reader)
            }
            readers += try self.invited(to: share, in: subject.zone, besides: readers)
        }
        let named = Set(readers.map(\.name))
        for name in users where !named.contains(name) {
            readers.append(
                ExplainedReader(
                    name: name,
                    may: [],
                    why: "has followed the zone, and takes part in no share that the record is in"
                )
            )
        }
        return readers
    }

    /// A user with a shared database; `nil` if the record is in none of the shares that they have
    /// joined.
    private func participant(
        _ name: String,
        _ database: DatabaseID,
        of subject: Subject
    ) throws(StorageFailure) -> ExplainedReader? {
        let access = try self.snapshot.sharedAccess(to: subject.zone, of: database)
        guard let grant = try self.snapshot.grant(of: subject.key, access) else { return nil }
        let membership = try self.snapshot.membership(of: subject.key)
        return ExplainedReader(
            name: name,
            may: grant.mayWrite ? [.create, .read, .write] : .read,
            why: "\(grant.role.words) who may \(grant.permission.words), in the share '\(grant.share.name)'",
            sharedDatabase: database,
            expiredThrough: try self.snapshot.tokensExpiredThrough(in: subject.zone, of: database),
            arrival: grant.share.root == nil ? 0 : membership?.since ?? 0,
            readsZone: grant.share.root == nil
        )
    }

    /// Participants who have not joined.
    private func invited(
        to share: StoredShare,
        in zone: ZoneKey,
        besides readers: [ExplainedReader]
    ) throws(StorageFailure) -> [ExplainedReader] {
        let contents = try self.snapshot.record(named: share.name, in: zone)?.body.share
        return (contents?.participants ?? []).compactMap { participant in
            guard participant.role != .owner, participant.acceptance != .accepted else { return nil }
            let name = participant.identity.userRecordName
            guard name.isEmpty || !readers.contains(where: { $0.name == name }) else { return nil }
            return ExplainedReader(
                name: name.isEmpty ? participant.identity.address : name,
                may: [],
                why: "is invited to the share '\(share.name)' and has not joined"
            )
        }
    }
}

extension UserIdentity {
    fileprivate var address: String {
        switch self.lookup {
        case .emailAddress(let text), .phoneNumber(let text), .userRecordName(let text): text
        case nil: "the first user of a one-time URL"
        }
    }
}
