import RecordModel
import RecordStore

extension StoreError {
    /// What a person reads: CloudKit's text where it is known, otherwise what is wrong and what to do.
    package var text: String {
        switch self {
        case .zoneMissing: "Zone Not Found"
        case .zoneNotModifiable: "The default zone is always there: it can be neither created nor deleted"
        case .recordMissing: "Record not found"
        case .recordExists: "record to insert already exists"
        case .changeTagStale: "client oplock error updating record"
        case .recordTypeMismatch(let existing):
            "the record on the server is of type '\(existing)': a record keeps its type, save under another name"
        case .nameInvalid(let kind): kind.text
        case .fieldMalformed(let error): error.text
        case .fieldTypeMismatch(let type, let field, let given, let defined):
            "invalid attempt to set value type \(given.schemaName) for field '\(field)' "
                + "for type '\(type)', defined to be: " + defined.schemaName
        case .newTypeInProduction(let type): "Cannot create new type \(type) in production schema"
        case .newFieldInProduction(let type, let field):
            "Cannot create or modify field '\(field)' in record '\(type)' in production schema"
        case .fieldEncryptionMismatch(let field):
            "field '\(field)' was first saved the other way: it is either encrypted or plain, for ever"
        case .fieldEncryptionNotAllowed(let field):
            "field '\(field)' cannot be encrypted: not in the public database, and no references, assets or empty lists"
        case .recordTooLarge(let bytes):
            "record too large: its fields take \(bytes) bytes, move large values to assets"
        case .tooManyFields(let type):
            "the record type '\(type)' would have more than \(Bounds.recordTypeFieldsMax) fields: "
                + "use fields that it has, or another type"
        case .tooManyRecordTypes:
            "the schema has \(Bounds.recordTypesMax) record types, the most there may be: use one that it has"
        case .tooManyZones:
            "the database has \(Bounds.defaults.zonesMax) zones, the most there may be: delete some first"
        case .assetNotAvailable(let field):
            "field '\(field)' names an asset that is not in the database: upload it, then save again"
        case .quotaExceeded(let quota): quota.text
        case .assetTooLarge(_, let bytes): "the asset is too large: it takes \(bytes) bytes"
        case .assetNotNamed: "the record does not name the asset: fetch the record again"
        case .assetUploadExpired: "the upload was given up because no bytes came for it: begin again"
        case .duplicateItem: "You can't save the same record twice"
        case .savedAndDeleted: "You can't save and delete the same record"
        case .referenceCrossesZones(let field):
            "field '\(field)' refers to a record of another zone: references stay within a zone"
        case .referenceTargetMissing(let name):
            "the record '\(name)' that is referred to does not exist: save it first, or in the same request"
        case .referenceWouldDangle: "Record delete would violate validating reference, rejecting update"
        case .referenceLimit(let target):
            "too many references with deleteSelf to '\(target)': use references without an action"
        case .referenceNotPermitted(let target):
            "WRITE on '\(target)' is needed for a parent or a reference with an action: refer to it with the action none"
        case .parentCycle: "the record would be its own ancestor"
        case .parentTooDeep: "the record would have more than \(Bounds.defaults.parentDepthMax) ancestors"
        case .permissionDenied(let permission): permission.text
        case .notSignedIn: "This request requires an authenticated account"
        case .databaseNotAllowed: "the operation does not exist in this database"
        case .recordTypeUnknown(let type):
            "Did not find record type: \(type) (in development a type comes with its first record, or with "
                + "tidemark schema import)"
        case .systemTypeQuery: "Can't query system types"
        case .fieldUnknown(let field):
            "Unknown field '\(field)' (in development a field comes with the first record that has it, or with "
                + "tidemark schema import)"
        case .fieldNotQueryable(let field): "Field '\(field)' is not marked queryable"
        case .fieldNotSortable(let field): "Field '\(field)' is not marked sortable"
        case .fieldNotSearchable(let field): "Field '\(field)' is not marked searchable"
        case .comparatorMismatch(let field, let comparator, let defined):
            comparator.text(field: field, defined: defined)
        case .operandTypeMismatch(let field, let given, let defined):
            "Field '\(field)' has a value type of \(defined.schemaName) and cannot be queried using filter "
                + "value type \(given.schemaName)"
        case .indexBuilding(let field, let milliseconds):
            "the index on field '\(field)' is still being built, retry after \(milliseconds) ms"
        case .queryTooBroad:
            "the query would put too many records in order: add a condition, or sort by an indexed field first"
        case .zoneRequired: "SharedDB does not support Zone Wide queries"
        case .cursorInvalid: "the cursor is none of this query: query again from the start"
        case .cursorExpired: "the indexes have changed since the cursor was made: query again from the start"
        case .changeTokenExpired: "client knowledge differs from server knowledge"
        case .subscriptionDuplicate(let id): "subscription is duplicate of '\(id)'"
        case .subscriptionMissing: "Subscription not found"
        case .subscriptionLimit:
            "a user has at most \(Bounds.subscriptionsMax) subscriptions in a database: delete some"
        case .subscriptionZoneNotAllowed:
            "the default zone has no subscription to all its changes: subscribe to a query"
        case .duplicateSubscription: "You can't save or delete the same subscription twice"
        case .alreadyShared:
            "the record, one above or one below it, is shared already: a record is in one share"
        case .shareConflict(.zoneIsShared): "the zone is shared as a whole: it has no shares of records"
        case .shareConflict(.zoneHasShares): "records of the zone are shared: it can't be shared as a whole"
        case .shareInvalid(let fault): fault.text
        case .tooManyParticipants: "a share has at most \(Bounds.participantsMax) participants"
        case .sharedTreeTooLarge:
            "more than \(Bounds.defaults.cascadeRecordsMax) records are below this one: share or move it in parts"
        case .shareMissing: "the URL leads to no share: ask the owner for a new one"
        case .participantUnverified:
            "the address that was invited is not one of this account: the operator adds it to the user"
        case .atomicPeer: "Atomic failure"
        case .dependsOn: "a record of the same request that this one refers to could not be saved"
        case .tooManyItems(let count):
            "Your request contains \(count) items which is more than the maximum number of items "
                + "in a single request"
        case .answerTooLarge(let bytes):
            "the answer takes \(bytes) bytes, more than it may: send fewer items at a time, or fetch page by page"
        case .requestIDMissing: "a request that changes something needs a request ID of 16 bytes"
        case .requestIDExpired:
            "the request ID is too old to know whether it was executed: fetch, then send with a new one"
        case .requestIDAhead:
            "the request ID is more than a day ahead of the server: check the clock, make IDs with the server's time"
        case .deadlinePassed: "the deadline passed before the request was executed: nothing happened"
        case .cancelled: "the request was cancelled before it was executed"
        case .overloaded(let milliseconds):
            "the server has too much to do: nothing happened, retry after \(milliseconds) ms"
        case .storageUnavailable(let milliseconds):
            "the server cannot write to its disk: nothing happened, retry after \(milliseconds) ms"
        case .diskFull(let milliseconds):
            "the server's disk is full: delete something, or tell the operator; nothing happened, retry after \(milliseconds) ms"
        case .internalFault: "internal error of the server, whose log has the reason"
        case .shuttingDown: "the server is shutting down: connect again"
        }
    }
}

extension Quota {
    fileprivate var text: String {
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
    fileprivate func text(field: String, defined: FieldType) -> String {
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
    fileprivate var text: String {
        switch self {
        case .zone: "a zone name has 1 to 255 printable ASCII characters and does not start with '_'"
        case .record: "a record name has 1 to 255 printable ASCII characters and does not start with '_'"
        case .recordType: "a record type is a letter, then letters, digits and '_', at most 255 characters"
        case .subscription: "a subscription ID has 1 to 255 printable ASCII characters"
        case .field: "a field name is a letter, then letters, digits and '_', at most 255 characters"
        case .userRecord: "user records are made by the server: they can be changed, not created or deleted"
        }
    }
}

extension ShareFault {
    fileprivate var text: String {
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
    fileprivate var text: String {
        switch self {
        case .create: "CREATE operation not permitted"
        case .read: "READ operation not permitted"
        case .write: "WRITE operation not permitted"
        }
    }
}

extension BodyError {
    /// What is wrong with the encoded fields of a record.
    var text: String {
        switch self {
        case .malformed: "the fields of a record are not in the canonical encoding"
        case .fieldOrder(let name): "field '\(name)' is there twice or out of order"
        case .fieldNameInvalid:
            "a field name is a letter, then letters, digits and '_', at most 255 characters"
        case .valueInvalid(let field): "the value of field '\(field)' breaks a rule of its type"
        case .tooManyFields: "a record has at most \(Bounds.fieldsMax) fields"
        case .tooManyElements(let field):
            "the list in field '\(field)' has more than \(Bounds.listElementsMax) elements"
        case .clearNotAllowed(let field): "field '\(field)' is marked to be removed, which only a save can do"
        }
    }
}
