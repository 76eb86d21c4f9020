public import Foundation

extension CKError {
    /// What went wrong; the numbers are Apple's.
    public enum Code: Int, Sendable, _ErrorCodeProtocol {
        /// The error that has these codes.
        public typealias _ErrorType = CKError

        /// A failure that the request did not cause; report it.
        case internalError = 1
        /// Some items failed; look at `partialErrorsByItemID`.
        case partialFailure = 2
        /// There is no network; retry later.
        case networkUnavailable = 3
        /// The server could not be reached; retry later.
        case networkFailure = 4
        /// The container does not exist, or the set-up is wrong; change what the text names.
        case badContainer = 5
        /// The server can't serve now; retry after `retryAfterSeconds`.
        case serviceUnavailable = 6
        /// Too many requests; retry after `retryAfterSeconds`.
        case requestRateLimited = 7
        /// The application may not use the service.
        case missingEntitlement = 8
        /// The request needs a signed-in user; supply a valid token.
        case notAuthenticated = 9
        /// The user may not do this; ask the owner or operator for access.
        case permissionFailure = 10
        /// The item does not exist; create it, or drop it locally.
        case unknownItem = 11
        /// The request breaks a rule or contradicts the schema; correct what the text names.
        case invalidArguments = 12
        /// Never sent.
        case resultsTruncated = 13
        /// Another client saved the record first; merge into `serverRecord` and save that.
        case serverRecordChanged = 14
        /// The server refuses the request for good; do not retry.
        case serverRejectedRequest = 15
        /// The file of an asset does not exist; set the field to one that does.
        case assetFileNotFound = 16
        /// The file of an asset changed during the upload; save again.
        case assetFileModified = 17
        /// Client and server have no protocol version, or not this operation, in common; update the
        /// older one.
        case incompatibleVersion = 18
        /// A value must be unique and is not.
        case constraintViolation = 19
        /// The operation was cancelled.
        case operationCancelled = 20
        /// The change token is too old; fetch again without one.
        case changeTokenExpired = 21
        /// Another item of the atomic batch failed; correct that one.
        case batchRequestFailed = 22
        /// The zone is changing; retry after `retryAfterSeconds`.
        case zoneBusy = 23
        /// The operation does not exist in this database; use another database.
        case badDatabase = 24
        /// The storage is full; delete data, or ask the operator.
        case quotaExceeded = 25
        /// The zone does not exist; create it.
        case zoneNotFound = 26
        /// Too many items or bytes; send half as many.
        case limitExceeded = 27
        /// The user deleted the zone.
        case userDeletedZone = 28
        /// The share has too many participants.
        case tooManyParticipants = 29
        /// The record is in a share already.
        case alreadyShared = 30
        /// The target of a reference does not exist, or a reference forbids the deletion; save or
        /// delete the other record first.
        case referenceViolation = 31
        /// The account's management forbids it.
        case managedAccountRestricted = 32
        /// The invited address must be verified first.
        case participantMayNeedVerification = 33
        /// The response was lost, and the request may have taken effect; retry, and expect a
        /// conflict.
        case serverResponseLost = 34
        /// The file of an asset can't be opened; retry when it can.
        case assetNotAvailable = 35
        /// The account needs its user's attention.
        case accountTemporarilyUnavailable = 36
        /// The address is a participant already.
        case participantAlreadyInvited = 37
    }
}
