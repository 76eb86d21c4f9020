// Each code under the error itself, for `catch CKError.zoneNotFound` and `switch`.
extension CKError {
    /// A failure that the request did not cause; report it.
    public static var internalError: CKError.Code { .internalError }
    /// Some items failed; look at `partialErrorsByItemID`.
    public static var partialFailure: CKError.Code { .partialFailure }
    /// There is no network; retry later.
    public static var networkUnavailable: CKError.Code { .networkUnavailable }
    /// The server could not be reached; retry later.
    public static var networkFailure: CKError.Code { .networkFailure }
    /// The container does not exist, or the set-up is wrong; change what the text names.
    public static var badContainer: CKError.Code { .badContainer }
    /// The server can't serve now; retry after `retryAfterSeconds`.
    public static var serviceUnavailable: CKError.Code { .serviceUnavailable }
    /// Too many requests; retry after `retryAfterSeconds`.
    public static var requestRateLimited: CKError.Code { .requestRateLimited }
    /// The application may not use the service.
    public static var missingEntitlement: CKError.Code { .missingEntitlement }
    /// The request needs a signed-in user; supply a valid token.
    public static var notAuthenticated: CKError.Code { .notAuthenticated }
    /// The user may not do this; ask the owner or operator for access.
    public static var permissionFailure: CKError.Code { .permissionFailure }
    /// The item does not exist; create it, or drop it locally.
    public static var unknownItem: CKError.Code { .unknownItem }
    /// The request breaks a rule or contradicts the schema; correct what the text names.
    public static var invalidArguments: CKError.Code { .invalidArguments }
    /// Never sent.
    public static var resultsTruncated: CKError.Code { .resultsTruncated }
    /// Another client saved the record first; merge into `serverRecord` and save that.
    public static var serverRecordChanged: CKError.Code { .serverRecordChanged }
    /// The server refuses the request for good; do not retry.
    public static var serverRejectedRequest: CKError.Code { .serverRejectedRequest }
    /// The file of an asset does not exist; set the field to one that does.
    public static var assetFileNotFound: CKError.Code { .assetFileNotFound }
    /// The file of an asset changed during the upload; save again.
    public static var assetFileModified: CKError.Code { .assetFileModified }
    /// Client and server have no protocol version, or not this operation, in common; update the
    /// older one.
    public static var incompatibleVersion: CKError.Code { .incompatibleVersion }
    /// A value must be unique and is not.
    public static var constraintViolation: CKError.Code { .constraintViolation }
    /// The operation was cancelled.
    public static var operationCancelled: CKError.Code { .operationCancelled }
    /// The change token is too old; fetch again without one.
    public static var changeTokenExpired: CKError.Code { .changeTokenExpired }
    /// Another item of the atomic batch failed; correct that one.
    public static var batchRequestFailed: CKError.Code { .batchRequestFailed }
    /// The zone is changing; retry after `retryAfterSeconds`.
    public static var zoneBusy: CKError.Code { .zoneBusy }
    /// The operation does not exist in this database; use another database.
    public static var badDatabase: CKError.Code { .badDatabase }
    /// The storage is full; delete data, or ask the operator.
    public static var quotaExceeded: CKError.Code { .quotaExceeded }
    /// The zone does not exist; create it.
    public static var zoneNotFound: CKError.Code { .zoneNotFound }
    /// Too many items or bytes; send half as many.
    public static var limitExceeded: CKError.Code { .limitExceeded }
    /// The user deleted the zone.
    public static var userDeletedZone: CKError.Code { .userDeletedZone }
    /// The share has too many participants.
    public static var tooManyParticipants: CKError.Code { .tooManyParticipants }
    /// The record is in a share already.
    public static var alreadyShared: CKError.Code { .alreadyShared }
    /// The target of a reference does not exist, or a reference forbids the deletion; save or
    /// delete the other record first.
    public static var referenceViolation: CKError.Code { .referenceViolation }
    /// The account's management forbids it.
    public static var managedAccountRestricted: CKError.Code { .managedAccountRestricted }
    /// The invited address must be verified first.
    public static var participantMayNeedVerification: CKError.Code { .participantMayNeedVerification }
    /// The response was lost, and the request may have taken effect; retry, and expect a conflict.
    public static var serverResponseLost: CKError.Code { .serverResponseLost }
    /// The file of an asset can't be opened; retry when it can.
    public static var assetNotAvailable: CKError.Code { .assetNotAvailable }
    /// The account needs its user's attention.
    public static var accountTemporarilyUnavailable: CKError.Code { .accountTemporarilyUnavailable }
    /// The address is a participant already.
    public static var participantAlreadyInvited: CKError.Code { .participantAlreadyInvited }
}
