// A table: one row an error.
package import RecordModel

extension StoreError {
    /// The forms of an error for clients, people and the disk.
    package struct Row {
        /// The code that clients match.
        package let code: ErrorCode
        package let retry: RetryAdvice
        /// For people: CloudKit's text where it is known, otherwise what is wrong and what to do.
        package let text: String
        /// The stored form of an error of an item.
        package let parts: Parts

        /// An error of an item, with the number that it has on disk: never reuse one.
        fileprivate init(
            _ code: ErrorCode,
            _ retry: RetryAdvice,
            _ number: UInt8,
            integers: [Int64] = [],
            texts: [String] = [],
            _ text: () -> String
        ) {
            self.code = code
            self.retry = retry
            self.text = text()
            self.parts = Parts(number: number, integers: integers, texts: texts)
        }

        fileprivate init(
            _ code: ErrorCode,
            _ retry: RetryAdvice,
            _ number: UInt8,
            types: [FieldType],
            texts: [String],
            _ text: () -> String
        ) {
            let integers = types.map { Int64($0.rawValue) }
            self.init(code, retry, number, integers: integers, texts: texts, text)
        }

        /// An error of a request as a whole, or of a read: no such result is stored.
        fileprivate init(_ code: ErrorCode, _ retry: RetryAdvice, _ text: () -> String) {
            self.init(code, retry, Parts.neverStored, text)
        }
    }

    /// No default: a new case must decide all of it.
    package var row: Row {
        switch self {
        case .zoneMissing: Row(.zoneNotFound, .afterChange, 0) { "Zone Not Found" }
        case .zoneNotModifiable:
            Row(.invalidArguments, .never, 1) {
                "The default zone is always there: it can be neither created nor deleted"
            }
        case .recordMissing: Row(.unknownItem, .afterChange, 2) { "Record not found" }
        case .recordDamaged(let id):
            Row(
                .internalError,
                .never,
                62,
                texts: [id.recordName, id.zone.zoneName, id.zone.ownerName]
            ) {
                """
                record \"\(id.recordName)\" of zone \"\(id.zone.zoneName)\" is damaged on the server's disk: \
                delete it, or ask the operator for a backup
                """
            }
        case .recordExists:
            Row(.serverRecordChanged, .afterChange, 3) {
                "record to insert already exists"
            }
        case .changeTagStale:
            Row(.serverRecordChanged, .afterChange, 4) { "client oplock error updating record" }
        case .recordTypeMismatch(let existing):
            Row(.invalidArguments, .never, 5, texts: [existing]) {
                "the record on the server is of type '\(existing)': a record keeps its type, save under another name"
            }
        case .nameInvalid(let kind):
            Row(.invalidArguments, .never, 6, integers: [kind.storedNumber]) { kind.text }
        case .fieldMalformed(let error):
            Row(.invalidArguments, .never, 7, integers: [error.storedNumber], texts: error.storedTexts) {
                error.text
            }
        case .fieldTypeMismatch(let type, let field, let given, let defined):
            Row(.invalidArguments, .never, 8, types: [given, defined], texts: [field, type]) {
                "invalid attempt to set value type \(given.schemaName) for field '\(field)' "
                    + "for type '\(type)', defined to be: " + defined.schemaName
            }
        case .fieldEncryptionMismatch(let field):
            Row(.invalidArguments, .never, 9, texts: [field]) {
                "field '\(field)' was first saved the other way: it is either encrypted or plain, for ever"
            }
        case .fieldEncryptionNotAllowed(let field):
            Row(.invalidArguments, .never, 10, texts: [field]) {
                "field '\(field)' cannot be encrypted: not in the public database, and no references, assets or empty lists"
            }
        case .newTypeInProduction(let type):
            Row(.invalidArguments, .never, 25, texts: [type]) {
                "Cannot create new type \(type) in production schema"
            }
        case .newFieldInProduction(let type, let field):
            Row(.invalidArguments, .never, 26, texts: [field, type]) {
                "Cannot create or modify field '\(field)' in record '\(type)' in production schema"
            }
        case .recordTooLarge(let bytes):
            Row(.limitExceeded, .afterChange, 11, integers: [Int64(bytes)]) {
                "record too large: its fields take \(bytes) bytes, move large values to assets"
            }
        case .tooManyFields(let type):
            Row(.limitExceeded, .afterChange, 47, texts: [type]) {
                "the record type '\(type)' would have more than \(Bounds.recordTypeFieldsMax) fields: "
                    + "use fields that it has, or another type"
            }
        case .tooManyRecordTypes:
            Row(.limitExceeded, .afterChange, 48) {
                "the schema has \(Bounds.recordTypesMax) record types, the most there may be: use one that it has"
            }
        case .tooManyZones:
            Row(.limitExceeded, .afterChange, 49) {
                "the database has \(Bounds.defaults.zonesMax) zones, the most there may be: delete some first"
            }
        case .assetNotAvailable(let field):
            Row(.assetNotAvailable, .afterChange, 38, texts: [field]) {
                "field '\(field)' names an asset that is not in the database: upload it, then save again"
            }
        case .quotaExceeded(let quota):
            Row(.quotaExceeded, .afterChange, 39, integers: [quota.holder.storedNumber, quota.bytesMax]) {
                quota.text
            }
        case .assetTooLarge(_, let bytes):
            Row(.limitExceeded, .afterChange) { "the asset is too large: it takes \(bytes) bytes" }
        case .assetNotNamed:
            Row(.assetNotAvailable, .afterChange) {
                "the record does not name the asset: fetch the record again"
            }
        case .assetUploadExpired:
            Row(.assetNotAvailable, .now) {
                "the upload was given up because no bytes came for it: begin again"
            }
        case .duplicateItem: Row(.invalidArguments, .never, 12) { "You can't save the same record twice" }
        case .savedAndDeleted:
            Row(.invalidArguments, .never, 13) { "You can't save and delete the same record" }
        case .referenceCrossesZones(let field):
            Row(.invalidArguments, .never, 14, texts: [field]) {
                "field '\(field)' refers to a record of another zone: references stay within a zone"
            }
        case .referenceTargetMissing(let name):
            Row(.referenceViolation, .afterChange, 15, texts: [name]) {
                "the record '\(name)' that is referred to does not exist: save it first, or in the same request"
            }
        case .referenceWouldDangle(let referrer):
            Row(.referenceViolation, .afterChange, 16, texts: [referrer]) {
                "Record delete would violate validating reference, rejecting update"
            }
        case .referenceLimit(let target):
            Row(.limitExceeded, .afterChange, 17, texts: [target]) {
                "too many references with deleteSelf to '\(target)': use references without an action"
            }
        case .referenceNotPermitted(let target):
            Row(.permissionFailure, .never, 50, texts: [target]) {
                "WRITE on '\(target)' is needed for a parent or a reference with an action: refer to it with the action none"
            }
        case .parentCycle:
            Row(.invalidArguments, .afterChange, 18) { "the record would be its own ancestor" }
        case .parentTooDeep:
            Row(.limitExceeded, .afterChange, 19) {
                "the record would have more than \(Bounds.defaults.parentDepthMax) ancestors"
            }
        case .permissionDenied(let permission):
            Row(.permissionFailure, .never, 20, integers: [permission.storedNumber]) { permission.text }
        case .notSignedIn:
            Row(.notAuthenticated, .afterChange, 21) { "This request requires an authenticated account" }
        case .databaseNotAllowed:
            Row(.badDatabase, .never, 22) { "the operation does not exist in this database" }
        case .recordTypeUnknown(let type):
            Row(.unknownItem, .never) {
                "Did not find record type: \(type) (in development a type comes with its first record, or with "
                    + "tidemark schema import)"
            }
        case .systemTypeQuery: Row(.invalidArguments, .never, 28) { "Can't query system types" }
        case .fieldUnknown(let field):
            Row(.invalidArguments, .never, 29, texts: [field]) {
                "Unknown field '\(field)' (in development a field comes with the first record that has it, or with "
                    + "tidemark schema import)"
            }
        case .fieldNotQueryable(let field):
            Row(.invalidArguments, .never, 30, texts: [field]) {
                "Field '\(field)' is not marked queryable"
            }
        case .fieldNotSortable(let field):
            Row(.invalidArguments, .never) { "Field '\(field)' is not marked sortable" }
        case .fieldNotSearchable(let field):
            Row(.invalidArguments, .never, 31, texts: [field]) {
                "Field '\(field)' is not marked searchable"
            }
        case .comparatorMismatch(let field, let comparator, let defined):
            Row(
                .invalidArguments,
                .never,
                32,
                integers: [Int64(comparator.rawValue), Int64(defined.rawValue)],
                texts: [field]
            ) {
                comparator.text(field: field, defined: defined)
            }
        case .operandTypeMismatch(let field, let given, let defined):
            Row(.invalidArguments, .never, 33, types: [given, defined], texts: [field]) {
                "Field '\(field)' has a value type of \(defined.schemaName) and cannot be queried using filter "
                    + "value type \(given.schemaName)"
            }
        case .indexBuilding(let field, let milliseconds):
            Row(.serviceUnavailable, .after(milliseconds: milliseconds)) {
                "the index on field '\(field)' is still being built, retry after \(milliseconds) ms"
            }
        case .queryTooBroad:
            Row(.limitExceeded, .afterChange) {
                "the query would put too many records in order: add a condition, or sort by an indexed field first"
            }
        case .zoneRequired:
            Row(.invalidArguments, .never) {
                "SharedDB does not support Zone Wide queries"
            }
        case .cursorInvalid:
            Row(.invalidArguments, .afterChange) {
                "the cursor is none of this query: query again from the start"
            }
        case .cursorExpired:
            Row(.invalidArguments, .afterChange) {
                "the indexes have changed since the cursor was made: query again from the start"
            }
        case .changeTokenExpired:
            Row(.changeTokenExpired, .afterChange) { "client knowledge differs from server knowledge" }
        case .subscriptionDuplicate(let id):
            Row(.serverRejectedRequest, .never, 34, texts: [id]) { "subscription is duplicate of '\(id)'" }
        case .subscriptionMissing: Row(.unknownItem, .afterChange, 35) { "Subscription not found" }
        case .subscriptionLimit:
            Row(.limitExceeded, .afterChange, 36) {
                "a user has at most \(Bounds.subscriptionsMax) subscriptions in a database, of "
                    + "\(Bounds.subscriptionsBytesMax) bytes together (subscriptions_bytes_max): delete some"
            }
        case .subscriptionZoneNotAllowed:
            Row(.invalidArguments, .never, 37) {
                "the default zone has no subscription to all its changes: subscribe to a query"
            }
        case .duplicateSubscription:
            Row(.invalidArguments, .never) { "You can't save or delete the same subscription twice" }
        case .alreadyShared:
            Row(.alreadyShared, .afterChange, 40) {
                "the record, one above or one below it, is shared already: a record is in one share"
            }
        case .shareConflict(let conflict):
            Row(conflict.code, .afterChange, 41, integers: [Int64(conflict.rawValue)]) { conflict.text }
        case .shareInvalid(let fault):
            Row(.invalidArguments, .never, 42, integers: [Int64(fault.rawValue)]) { fault.text }
        case .tooManyParticipants:
            Row(.tooManyParticipants, .afterChange, 43) {
                "a share has at most \(Bounds.participantsMax) participants"
            }
        case .sharedTreeTooLarge:
            Row(.limitExceeded, .never, 44) {
                "more than \(Bounds.defaults.sharedTreeMax) records are below this one (shared_tree_max): share the "
                    + "zone instead, or share and move it in parts"
            }
        case .shareMissing:
            Row(.unknownItem, .never, 45) { "the URL leads to no share: ask the owner for a new one" }
        case .participantUnverified:
            Row(.participantMayNeedVerification, .afterChange, 46) {
                "the address that was invited is not one of this account: the operator adds it to the user"
            }
        case .alreadyInvited:
            Row(.participantAlreadyInvited, .afterChange, 60) {
                "the user is invited to the share already: accept the invitation"
            }
        case .encryptionScopeFixed(let scope):
            Row(.serverRejectedRequest, .never, 61, integers: [Int64(scope.rawValue)]) {
                "the encryption scope of the zone is \(scope), as it was created: save it with that, or under "
                    + "another name"
            }
        case .atomicPeer(let index):
            Row(.batchRequestFailed, .afterChange, 23, integers: [Int64(index)]) { "Atomic failure" }
        case .dependsOn(let index):
            Row(.referenceViolation, .afterChange, 24, integers: [Int64(index)]) {
                "a record of the same request that this one refers to could not be saved"
            }
        case .tooManyItems(let count):
            Row(.limitExceeded, .afterChange) {
                "Your request contains \(count) items which is more than the maximum number of items "
                    + "in a single request"
            }
        case .tooMuchWork(let bound):
            Row(.limitExceeded, .afterChange) { bound.text }
        case .responseTooLarge(let bytes):
            Row(.limitExceeded, .afterChange, 51, integers: [Int64(bytes)]) {
                "the response takes \(bytes) bytes, more than it may: send fewer items at a time, or fetch page by page"
            }
        case .requestIDMissing:
            Row(.invalidArguments, .never) {
                "a request that changes something needs a request ID of 16 bytes"
            }
        case .requestIDExpired:
            Row(.invalidArguments, .never) {
                "the request ID is too old to know whether it was executed: fetch, then send with a new one"
            }
        case .requestIDAhead:
            Row(.invalidArguments, .never) {
                "the request ID is more than a day ahead of the server: check the clock, make IDs with the server's time"
            }
        case .deadlinePassed:
            Row(.deadlineExceeded, .now) {
                "the deadline passed before the request was executed: nothing happened"
            }
        case .cancelled:
            Row(.operationCancelled, .never) { "the request was cancelled before it was executed" }
        case .overloaded(let milliseconds):
            Row(.requestRateLimited, .after(milliseconds: milliseconds)) {
                "the server has too much to do: nothing happened, retry after \(milliseconds) ms"
            }
        case .storageUnavailable(let milliseconds):
            Row(.serviceUnavailable, .after(milliseconds: milliseconds)) {
                "the server cannot write to its disk or database: nothing happened, retry after \(milliseconds) ms; if it lasts, tell the operator"
            }
        case .diskFull(let milliseconds):
            Row(.serviceUnavailable, .after(milliseconds: milliseconds)) {
                "the server's disk is full: delete something, or tell the operator; nothing happened, retry after \(milliseconds) ms"
            }
        case .internalFault:
            Row(.internalError, .after(milliseconds: 1_000)) {
                "internal error of the server, whose log has the reason"
            }
        case .shuttingDown:
            Row(.serviceUnavailable, .now) { "the server is shutting down: connect again" }
        }
    }
}
