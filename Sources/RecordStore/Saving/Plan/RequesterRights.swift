import RecordModel
import StorageContract

/// Rights of a plan's requester to records and record types.
struct RequesterRights {
    private let zone: PlannedZone
    /// The rights to the type that was asked for last.
    private var known: (type: String, access: TypeAccess)?

    init(_ zone: PlannedZone) {
        self.zone = zone
    }

    /// Finds the rights to a record, or to one that is made.
    ///
    /// Whether a record may be made in another user's zone depends on its parent. It is decided
    /// when all saves are known.
    mutating func access(
        to record: StoredRecord?,
        ofType type: String,
        _ definitions: inout DefinitionPlan
    ) throws(StorageFailure) -> TypeAccess {
        guard let shared = self.zone.shared else {
            return try self.access(toType: type, &definitions)
        }
        guard let record else { return .everything }
        let share = try self.zone.membership(of: record)
        guard let grant = shared.grant(coveredBy: share) else { return .nothing }
        return grant.mayWrite ? .everything : .reading
    }

    /// Finds the rights to the records of a type.
    ///
    /// One that no save has made yet will have the default grants.
    private mutating func access(
        toType type: String,
        _ definitions: inout DefinitionPlan
    ) throws(StorageFailure) -> TypeAccess {
        let rule = self.zone.rule
        guard rule.requester.scope == .public, rule.restoration == nil else { return .everything }
        if let known = self.known, known.type == type { return known.access }
        let grants =
            try definitions.planned(ofType: type).isTypeDefined || type == UserRecord.type
            ? SchemaRules.grantsInForce(
                try definitions.type(named: type)?.grants ?? [],
                ofType: type
            )
            : SchemaRules.defaultGrants
        let requester = self.zone.rule.requester
        var roles: Set<String> = []
        if let user = requester.userRecordName, grants.nameCustomRoles {
            roles = try self.zone.transaction.roles(ofUser: user, in: requester.environment)
        }
        let access = TypeAccess(grants: grants, roles: roles, requester: requester)
        self.known = (type, access)
        return access
    }

    /// Looks a save up in the decision table, and whether the requester may do what that says.
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
                policy: save.policy ?? self.zone.rule.operation.policy,
                existing: self.zone.isForeignRoot(save.id.recordName) ? existing?.asRoot : existing
            )
        } catch {
            // A conflict would show the record.
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

    mutating func mayDelete(
        _ record: StoredRecord,
        named name: String,
        _ definitions: inout DefinitionPlan
    ) throws(StorageFailure) -> Bool {
        guard record.recordType != UserRecord.type, !self.zone.isForeignRoot(name) else { return false }
        return try self.access(to: record, ofType: record.recordType, &definitions).mayWrite(record)
    }
}
