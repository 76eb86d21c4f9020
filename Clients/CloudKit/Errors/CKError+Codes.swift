// Each code under the error itself, for `catch CKError.zoneNotFound` and `switch`.
extension CKError {
    /// A failure that the request is not to blame for.
    public static var internalError: CKError.Code { .internalError }
    /// Some items failed; see `partialErrorsByItemID`.
    public static var partialFailure: CKError.Code { .partialFailure }
    /// There is no network.
    public static var networkUnavailable: CKError.Code { .networkUnavailable }
    /// The server could not be reached.
    public static var networkFailure: CKError.Code { .networkFailure }
    /// The container does not exist.
    public static var badContainer: CKError.Code { .badContainer }
    /// The server can't serve now; see `retryAfterSeconds`.
    public static var serviceUnavailable: CKError.Code { .serviceUnavailable }
    /// Too many requests; see `retryAfterSeconds`.
    public static var requestRateLimited: CKError.Code { .requestRateLimited }
    /// The application may not use the service.
    public static var missingEntitlement: CKError.Code { .missingEntitlement }
    /// The request needs a user, and none is signed in.
    public static var notAuthenticated: CKError.Code { .notAuthenticated }
    /// The user may not do this.
    public static var permissionFailure: CKError.Code { .permissionFailure }
    /// The item does not exist.
    public static var unknownItem: CKError.Code { .unknownItem }
    /// The request breaks a rule, or contradicts the schema.
    public static var invalidArguments: CKError.Code { .invalidArguments }
    /// Never sent.
    public static var resultsTruncated: CKError.Code { .resultsTruncated }
    /// The server has another state of the record; its error carries the three records.
    public static var serverRecordChanged: CKError.Code { .serverRecordChanged }
    /// The server refuses the request for good.
    public static var serverRejectedRequest: CKError.Code { .serverRejectedRequest }
    /// The file of an asset is not there.
    public static var assetFileNotFound: CKError.Code { .assetFileNotFound }
    /// The file of an asset changed while it was sent.
    public static var assetFileModified: CKError.Code { .assetFileModified }
    /// Client and server have no protocol version, or not this operation, in common.
    public static var incompatibleVersion: CKError.Code { .incompatibleVersion }
    /// A value must be unique and is not.
    public static var constraintViolation: CKError.Code { .constraintViolation }
    /// The operation was cancelled.
    public static var operationCancelled: CKError.Code { .operationCancelled }
    /// Changes since the token are no longer known: fetch anew without one.
    public static var changeTokenExpired: CKError.Code { .changeTokenExpired }
    /// Another item of the atomic batch failed.
    public static var batchRequestFailed: CKError.Code { .batchRequestFailed }
    /// The zone is changing; send again later.
    public static var zoneBusy: CKError.Code { .zoneBusy }
    /// The operation does not exist in this database.
    public static var badDatabase: CKError.Code { .badDatabase }
    /// The storage is full.
    public static var quotaExceeded: CKError.Code { .quotaExceeded }
    /// The zone does not exist.
    public static var zoneNotFound: CKError.Code { .zoneNotFound }
    /// Too many items or bytes: send half as much.
    public static var limitExceeded: CKError.Code { .limitExceeded }
    /// The user deleted the zone.
    public static var userDeletedZone: CKError.Code { .userDeletedZone }
    /// The share has too many participants.
    public static var tooManyParticipants: CKError.Code { .tooManyParticipants }
    /// The record is in a share already.
    public static var alreadyShared: CKError.Code { .alreadyShared }
    /// The target of a reference does not exist, or would be missed.
    public static var referenceViolation: CKError.Code { .referenceViolation }
    /// The account's management forbids it.
    public static var managedAccountRestricted: CKError.Code { .managedAccountRestricted }
    /// The invited address must be verified first.
    public static var participantMayNeedVerification: CKError.Code { .participantMayNeedVerification }
    /// The answer was lost: whether the request took effect is unknown.
    public static var serverResponseLost: CKError.Code { .serverResponseLost }
    /// The file of an asset can't be opened; try again when it can.
    public static var assetNotAvailable: CKError.Code { .assetNotAvailable }
    /// The account needs its user's attention.
    public static var accountTemporarilyUnavailable: CKError.Code { .accountTemporarilyUnavailable }
    /// The address is a participant already.
    public static var participantAlreadyInvited: CKError.Code { .participantAlreadyInvited }
}
