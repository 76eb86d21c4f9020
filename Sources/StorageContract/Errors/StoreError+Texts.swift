import RecordModel

extension Quota {
    var text: String {
        switch self.holder {
        case .user:
            "the user may store \(self.bytesMax) bytes: delete something, or ask the operator for more"
        case .container:
            "the container may store \(self.bytesMax) bytes: delete something, or ask the operator for more"
        }
    }
}

extension Comparator {
    /// Why a field of a type can't be compared so.
    func text(field: String, defined: FieldType) -> String {
        switch self {
        case .listContains, .listNotContains, .listContainsAny, .listNotContainsAny, .listContainsAll,
            .notListContainsAll, .listMemberBeginsWith, .notListMemberBeginsWith:
            defined.isList
                ? "Field '\(field)' is not a list of strings" : "Field '\(field)' is not a list"
        case .beginsWith, .notBeginsWith, .containsAllTokens, .containsAnyTokens:
            "Field '\(field)' is not a string: its type is \(defined.schemaName)"
        case .near: "Field '\(field)' is not a location: its type is \(defined.schemaName)"
        case .equals, .notEquals, .in, .notIn, .lessThan, .lessThanOrEquals, .greaterThan,
            .greaterThanOrEquals:
            "Field '\(field)' of type \(defined.schemaName) cannot be compared in this way"
        }
    }
}

extension NameKind {
    var text: String {
        switch self {
        case .zone: "a zone name has 1 to 255 printable ASCII characters and does not start with '_'"
        case .record: NameRules.recordNameRule
        case .recordType: "a record type is a letter, then letters, digits and '_', at most 255 characters"
        case .subscription: "a subscription ID has 1 to 255 printable ASCII characters"
        case .field: "a field name is a letter, then letters, digits and '_', at most 255 characters"
        case .userRecord: "user records are made by the server: they can be changed, not created or deleted"
        }
    }
}

extension ShareConflict {
    /// CloudKit tells the two apart by their codes.
    var code: ErrorCode {
        switch self {
        case .zoneIsShared, .zoneIsOneScope: .serverRejectedRequest
        case .zoneHasShares: .invalidArguments
        }
    }

    var text: String {
        switch self {
        case .zoneIsShared: "the zone is shared as a whole: it has no shares of records"
        case .zoneHasShares: "records of the zone are shared: it can't be shared as a whole"
        case .zoneIsOneScope: "the encryption scope of the zone is perZone: share the zone as a whole"
        }
    }
}

extension ShareFault {
    var text: String {
        switch self {
        case .place: "only what is in a zone of one's own in the private database can be shared"
        case .rootMissing: "a new share is saved in the same request as the record that it shares"
        case .permissionUnknown: "a participant's permission is none, readOnly or readWrite"
        case .roleNotAllowed: "a participant who is invited is a private user or an administrator"
        case .ownerStays: "the owner of a share can't be removed or changed"
        case .invitesToPublicShare:
            "nobody can be invited to a share while its public permission is not none: set it to none in the same save"
        case .participantID: "the ID of a participant has 1 to 64 printable ASCII characters"
        case .fieldType:
            "a share holds neither references nor assets: put them into the records that it shares"
        case .notAShare: "only a record of the type '\(ShareRecord.type)' has participants"
        }
    }
}

extension Permission {
    var text: String {
        switch self {
        case .create: "CREATE operation not permitted"
        case .read: "READ operation not permitted"
        case .write: "WRITE operation not permitted"
        }
    }
}
