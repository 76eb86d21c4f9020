public import Foundation

extension CKError {
    /// What went wrong; the numbers are Apple's.
    public enum Code: Int, Sendable, _ErrorCodeProtocol {
        /// The error that has these codes.
        public typealias _ErrorType = CKError

        /// A failure that the request is not to blame for.
        case internalError = 1
        /// Some items failed; see `partialErrorsByItemID`.
        case partialFailure = 2
        /// There is no network.
        case networkUnavailable = 3
        /// The server could not be reached.
        case networkFailure = 4
        /// The container does not exist.
        case badContainer = 5
        /// The server can't serve now; see `retryAfterSeconds`.
        case serviceUnavailable = 6
        /// Too many requests; see `retryAfterSeconds`.
        case requestRateLimited = 7
        /// The application may not use the service.
        case missingEntitlement = 8
        /// The request needs a user, and none is signed in.
        case notAuthenticated = 9
        /// The user may not do this.
        case permissionFailure = 10
        /// The item does not exist.
        case unknownItem = 11
        /// The request breaks a rule, or contradicts the schema.
        case invalidArguments = 12
        /// Never sent.
        case resultsTruncated = 13
        /// The server has another state of the record; its error carries the three records.
        case serverRecordChanged = 14
        /// The server refuses the request for good.
        case serverRejectedRequest = 15
        /// The file of an asset is not there.
        case assetFileNotFound = 16
        /// The file of an asset changed while it was sent.
        case assetFileModified = 17
        /// Client and server have no protocol version, or not this operation, in common.
        case incompatibleVersion = 18
        /// A value must be unique and is not.
        case constraintViolation = 19
        /// The operation was cancelled.
        case operationCancelled = 20
        /// Changes since the token are no longer known: fetch anew without one.
        case changeTokenExpired = 21
        /// Another item of the atomic batch failed.
        case batchRequestFailed = 22
        /// The zone is changing; send again later.
        case zoneBusy = 23
        /// The operation does not exist in this database.
        case badDatabase = 24
        /// The storage is full.
        case quotaExceeded = 25
        /// The zone does not exist.
        case zoneNotFound = 26
        /// Too many items or bytes: send half as much.
        case limitExceeded = 27
        /// The user deleted the zone.
        case userDeletedZone = 28
        /// The share has too many participants.
        case tooManyParticipants = 29
        /// The record is in a share already.
        case alreadyShared = 30
        /// The target of a reference does not exist, or would be missed.
        case referenceViolation = 31
        /// The account's management forbids it.
        case managedAccountRestricted = 32
        /// The invited address must be verified first.
        case participantMayNeedVerification = 33
        /// The answer was lost: whether the request took effect is unknown.
        case serverResponseLost = 34
        /// The file of an asset can't be opened; try again when it can.
        case assetNotAvailable = 35
        /// The account needs its user's attention.
        case accountTemporarilyUnavailable = 36
        /// The address is a participant already.
        case participantAlreadyInvited = 37
    }
}
