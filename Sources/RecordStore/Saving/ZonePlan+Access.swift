import RecordModel

/// What the requester of a plan may do.
extension ZonePlan {
    /// What the requester may do with a record, or with one that is made.
    ///
    /// Whether a record may be made in a zone of somebody else depends on its parent. It is decided
    /// when all saves are known.
    mutating func access(
        to record: StoredRecord?,
        ofType type: String
    ) throws(StorageFailure) -> TypeAccess {
        guard let shared = self.shared else { return try self.access(toType: type) }
        guard let record else { return .everything }
        let share = try self.membership(of: record)
        guard let grant = shared.grant(coveredBy: share) else { return .nothing }
        return grant.mayWrite ? .everything : .reading
    }

    /// What the requester may do with the records of a type.
    ///
    /// One that no save has made yet will have the default grants.
    mutating func access(toType type: String) throws(StorageFailure) -> TypeAccess {
        let requester = self.rule.requester
        guard requester.scope == .public else { return .everything }
        if let known = self.knownAccess, known.type == type { return known.access }
        let grants =
            try self.definitions(ofType: type).isTypeDefined || type == UserRecord.type
            ? SchemaRules.grantsInForce(
                try self.type(named: type)?.grants ?? [],
                ofType: type
            )
            : SchemaRules.defaultGrants
        var roles: Set<String> = []
        if let user = requester.userRecordName, grants.nameCustomRoles {
            roles = try self.rule.transaction.roles(ofUser: user, in: requester.environment)
        }
        let access = TypeAccess(grants: grants, roles: roles, requester: requester)
        self.knownAccess = (type, access)
        return access
    }

    /// Whether a record is the root of a share that the requester has joined.
    ///
    /// The requester must not learn what is above such a record.
    func isForeignRoot(_ name: String) -> Bool {
        self.shared != nil && self.shares.contains { $0.root == name }
    }

    /// The decision table, and whether the requester may do what it says.
    func check(
        _ save: RecordSave,
        existing: StoredRecord?,
        access: TypeAccess
    ) throws(StoreError) {
        if let existing {
            guard access.mayWrite(existing) else { throw .permissionDenied(.write) }
        }
        do {
            _ = try SaveRules.verdict(
                on: save,
                policy: self.rule.operation.policy,
                existing: self.isForeignRoot(save.id.recordName) ? existing?.asRoot : existing
            )
        } catch {
            // A conflict tells what the record is.
            if let existing, !access.mayRead(existing) { throw .permissionDenied(.read) }
            throw error
        }
        if let existing {
            guard existing.recordType == save.recordType else {
                throw .recordTypeMismatch(existing: existing.recordType)
            }
        } else {
            guard !UserRecord.isReserved(name: save.id.recordName, type: save.recordType) else {
                throw .nameInvalid(.userRecord)
            }
            guard access.mayCreate else { throw .permissionDenied(.create) }
        }
        if let error = save.changesError { throw .fieldMalformed(error) }
        guard !UserRecord.touchesReservedField(save.changes, ofType: save.recordType) else {
            throw .permissionDenied(.write)
        }
    }
}
