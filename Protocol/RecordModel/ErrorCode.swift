/// A number that identifies an error.
///
/// Numbers below 100 are CloudKit's, with their meaning; ours begin at 1000.
///
/// A struct, not an enum: a number that this version does not know survives decoding.
/// `registry.json` holds the table.
package struct ErrorCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let internalError = ErrorCode(rawValue: 1)
    package static let badContainer = ErrorCode(rawValue: 5)
    package static let serviceUnavailable = ErrorCode(rawValue: 6)
    package static let requestRateLimited = ErrorCode(rawValue: 7)
    package static let notAuthenticated = ErrorCode(rawValue: 9)
    package static let permissionFailure = ErrorCode(rawValue: 10)
    package static let unknownItem = ErrorCode(rawValue: 11)
    package static let invalidArguments = ErrorCode(rawValue: 12)
    package static let serverRecordChanged = ErrorCode(rawValue: 14)
    package static let serverRejectedRequest = ErrorCode(rawValue: 15)
    package static let assetFileModified = ErrorCode(rawValue: 17)
    package static let operationCancelled = ErrorCode(rawValue: 20)
    package static let changeTokenExpired = ErrorCode(rawValue: 21)
    package static let batchRequestFailed = ErrorCode(rawValue: 22)
    package static let zoneBusy = ErrorCode(rawValue: 23)
    package static let badDatabase = ErrorCode(rawValue: 24)
    package static let quotaExceeded = ErrorCode(rawValue: 25)
    package static let zoneNotFound = ErrorCode(rawValue: 26)
    package static let limitExceeded = ErrorCode(rawValue: 27)
    package static let tooManyParticipants = ErrorCode(rawValue: 29)
    package static let alreadyShared = ErrorCode(rawValue: 30)
    package static let referenceViolation = ErrorCode(rawValue: 31)
    package static let managedAccountRestricted = ErrorCode(rawValue: 32)
    package static let participantMayNeedVerification = ErrorCode(rawValue: 33)
    package static let assetNotAvailable = ErrorCode(rawValue: 35)
    package static let participantAlreadyInvited = ErrorCode(rawValue: 37)
    /// The request's deadline passed before it was executed: nothing happened.
    package static let deadlineExceeded = ErrorCode(rawValue: 1000)
    /// The server does not know the operation: it is older than the client.
    package static let operationUnknown = ErrorCode(rawValue: 1001)
}
