package import RecordModel

/// Why the store refuses an item or a request.
///
/// Every case has a rule in `Protocol/README.md`, section 5 or 8; the payload is data, and what a person
/// reads is made from it in one place, where the case gets its number.
package enum StoreError: Error, Hashable, Sendable {
    // An item is at fault.
    /// Fetch the zone list, create the zone, send again.
    case zoneMissing
    /// No client may create or delete this zone in the database.
    case zoneNotModifiable
    /// There is nothing by this name.
    case recordMissing
    /// The storage gives other bytes of the record than it took.
    ///
    /// It can be deleted; the log has a line about it.
    case recordDamaged(RecordID)
    /// The client thought the record new; fetch, merge, send again.
    indirect case recordExists(Record)
    /// The client's change tag is not the current one; fetch, merge, send again.
    indirect case changeTagStale(Record)
    /// A record keeps its type for life.
    case recordTypeMismatch(existing: String)
    case nameInvalid(NameKind)
    case fieldMalformed(BodyError)
    case fieldTypeMismatch(recordType: String, field: String, given: FieldType, defined: FieldType)
    /// A field is plain or encrypted for ever.
    case fieldEncryptionMismatch(field: String)
    /// Production takes only types that were deployed.
    case newTypeInProduction(String)
    case newFieldInProduction(recordType: String, field: String)
    /// Encrypted values do not exist in the public database.
    ///
    /// They are also neither references, assets nor empty lists.
    case fieldEncryptionNotAllowed(field: String)
    case recordTooLarge(bytes: Int)
    /// The record type has as many fields as it may: save fields that it has, or use another type.
    case tooManyFields(recordType: String)
    /// The schema has as many record types as it may: use one that it has.
    case tooManyRecordTypes
    /// The database has as many zones as it may: delete one.
    case tooManyZones
    /// The field names an asset that the database does not have whole, or not from this user.
    ///
    /// Upload it, then save again.
    case assetNotAvailable(field: String)
    /// The operator permits no more to be stored; delete something, or ask the operator.
    case quotaExceeded(Quota)
    /// The same record twice among the saves or the deletes.
    case duplicateItem
    /// The same record among the saves and the deletes.
    case savedAndDeleted
    case referenceCrossesZones(field: String)
    case referenceTargetMissing(recordName: String)
    /// The record is the parent of another, or named by a validating reference, that stays.
    case referenceWouldDangle(referrer: String)
    case referenceLimit(target: String)
    /// A reference with an action or a parent names a record that the requester may not write.
    ///
    /// This is refused in the public database only.
    case referenceNotPermitted(target: String)
    /// The record would be its own ancestor.
    case parentCycle
    case parentTooDeep
    case permissionDenied(Permission)
    case notSignedIn
    /// The operation does not exist in this database.
    case databaseNotAllowed
    // An upload or a download of assets is refused.
    /// The asset with this number is larger than any may be.
    case assetTooLarge(index: Int, bytes: Int64)
    /// The record does not name the asset with this number, or no longer; fetch it again.
    case assetNotNamed(index: Int)
    /// The upload got no byte for too long and was removed; begin again.
    case assetUploadExpired
    // A query is refused.
    /// No record of the type was ever saved, and the type was never declared.
    case recordTypeUnknown(String)
    /// Records of this type are the server's: fetch them by their names.
    case systemTypeQuery
    case fieldUnknown(field: String)
    /// Nothing may be asked about the field: it has no index for it.
    case fieldNotQueryable(field: String)
    case fieldNotSortable(field: String)
    case fieldNotSearchable(field: String)
    /// The comparison has no sense for values of the field's type.
    case comparatorMismatch(field: String, comparator: Comparator, defined: FieldType)
    case operandTypeMismatch(field: String, given: FieldType, defined: FieldType)
    /// The index was added a while ago and does not have all records yet; come back after this time.
    case indexBuilding(field: String, retryAfterMilliseconds: UInt32)
    /// Too many records would have to be put in order; add a condition, or sort by another field.
    case queryTooBroad
    /// A shared database is queried zone by zone.
    case zoneRequired
    /// The bytes are no position of this query; start again.
    case cursorInvalid
    /// The indexes have changed since the first page; start again.
    case cursorExpired
    /// The token is none of this feed, or too old; begin with a snapshot.
    case changeTokenExpired
    // A subscription is refused.
    /// The user has a subscription of the same definition under this ID.
    case subscriptionDuplicate(of: String)
    /// The user has no subscription by this ID.
    case subscriptionMissing
    /// The user has as many as the database permits; delete some.
    case subscriptionLimit
    /// A subscription to all changes of a default zone is not permitted.
    case subscriptionZoneNotAllowed
    /// The same subscription twice in a request.
    case duplicateSubscription

    // Something about a share is refused.
    /// The record, one above or one below it, is shared already.
    case alreadyShared
    /// The zone is shared as a whole, or has shares in it.
    case shareConflict(ShareConflict)
    case shareInvalid(ShareFault)
    case tooManyParticipants
    /// More records are below the one that moves, or is shared, than one change may take along.
    case sharedTreeTooLarge
    /// The URL leads nowhere.
    case shareMissing
    /// A participant was invited by an address that no user has here; the operator adds it to a
    /// user.
    case participantUnverified
    /// The user asks to be let in and is invited already; accept.
    case alreadyInvited
    /// The zone exists with this encryption scope, and keeps it.
    case encryptionScopeFixed(EncryptionScope)

    /// Nothing wrong with the item: the one with this number failed, and the batch is atomic.
    case atomicPeer(index: Int)
    /// The item needs the one with this number, which failed.
    case dependsOn(index: Int)

    // A request as a whole is refused; nothing of it happened.
    case tooManyItems(Int)
    /// It would take the writer for too long; send fewer items at a time.
    case tooMuchWork(WorkBound)
    /// The records do not fit into one response; ask for fewer at a time.
    ///
    /// As the error of an item: the record that its outcome carries does not fit.
    case responseTooLarge(bytes: Int)
    case requestIDMissing
    /// The ID is so old that the server may have forgotten whether it executed the request.
    case requestIDExpired
    /// The ID's time is more than a day ahead of the server's clock.
    ///
    /// Make IDs with the server's time, and check the clock.
    case requestIDAhead
    case deadlinePassed
    case cancelled
    /// Too much is waiting.
    ///
    /// A time up to `Bounds.reservationMillisecondsMax` is a reservation: who comes then is admitted.
    case overloaded(retryAfterMilliseconds: UInt32)
    /// The disk refuses to write. Nothing acknowledged is lost; come back after this time.
    case storageUnavailable(retryAfterMilliseconds: UInt32)
    /// The disk is full, and only what makes room is executed.
    ///
    /// Nothing acknowledged is lost. Delete something, or come back after this time.
    case diskFull(retryAfterMilliseconds: UInt32)
    /// A fault of the server; the log has the reason.
    case internalFault
    /// The server is shutting down; come back after this time.
    case shuttingDown
}

extension StoreError {
    /// Why a zone is not found: there is none, or there can be none of its name.
    package static func missing(_ zone: ZoneID) -> StoreError {
        zone.isDefault || NameRules.isItemName(zone.zoneName) ? .zoneMissing : .nameInvalid(.zone)
    }

    /// Why a record is not found: there is none, or there can be none of its name.
    package static func missing(recordNamed name: String) -> StoreError {
        NameRules.isRecordName(name) || NameRules.isUserRecordName(name)
            ? .recordMissing : .nameInvalid(.record)
    }
}

/// The kind of name that is invalid.
package enum NameKind: Hashable, Sendable {
    case zone
    case record
    case recordType
    /// User records are the server's to create.
    case userRecord
    case subscription
    case field
}

/// A limit on stored bytes.
package struct Quota: Hashable, Sendable {
    /// The holder of the bytes that are counted.
    package enum Holder: Hashable, Sendable {
        /// A user: their private databases.
        case user
        /// A container: all its databases.
        case container
    }

    package var holder: Holder
    /// Bodies of records and assets.
    package var bytesMax: Int64

    package init(of holder: Holder, bytesMax: Int64) {
        self.holder = holder
        self.bytesMax = bytesMax
    }
}

/// An action of a role on a record.
package enum Permission: Hashable, Sendable {
    case create
    case read
    case write
}

/// Why a zone takes no further share.
package enum ShareConflict: UInt8, Hashable, Sendable {
    /// It is shared as a whole.
    case zoneIsShared = 0
    /// It has records that are shared.
    case zoneHasShares = 1
    /// Its encryption scope is the zone, so it is shared as a whole only.
    case zoneIsOneScope = 2
}

/// A fault of a share that a client saves.
package enum ShareFault: UInt8, Hashable, Sendable {
    /// There are no shares in default zones and in the public database.
    case place = 0
    /// A new share comes with its root in one request.
    case rootMissing = 1
    case permissionUnknown = 2
    case roleNotAllowed = 3
    case ownerStays = 4
    /// A share that every user with its URL may join has no invitations.
    case invitesToPublicShare = 5
    case participantID = 6
    /// A share holds neither references nor assets.
    case fieldType = 7
    /// A record of another type says what only a share can.
    case notAShare = 8
}
