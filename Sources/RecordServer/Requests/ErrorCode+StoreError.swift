import RecordStore
import WireProtocol

extension ErrorCode {
    /// The number of each refusal of the store.
    ///
    /// No default: a new case must decide its number.
    init(_ error: StoreError) {
        switch error {
        case .zoneMissing: self = .zoneNotFound
        case .zoneNotModifiable: self = .invalidArguments
        case .recordMissing: self = .unknownItem
        case .recordExists: self = .serverRecordChanged
        case .changeTagStale: self = .serverRecordChanged
        case .recordTypeMismatch: self = .invalidArguments
        case .nameInvalid: self = .invalidArguments
        case .fieldMalformed: self = .invalidArguments
        case .fieldTypeMismatch: self = .invalidArguments
        case .newTypeInProduction: self = .invalidArguments
        case .newFieldInProduction: self = .invalidArguments
        case .fieldEncryptionMismatch: self = .invalidArguments
        case .fieldEncryptionNotAllowed: self = .invalidArguments
        case .recordTooLarge: self = .limitExceeded
        case .tooManyFields, .tooManyRecordTypes, .tooManyZones: self = .limitExceeded
        case .assetNotAvailable: self = .assetNotAvailable
        case .quotaExceeded: self = .quotaExceeded
        case .assetTooLarge: self = .limitExceeded
        case .assetNotNamed: self = .assetNotAvailable
        case .assetUploadExpired: self = .assetNotAvailable
        case .duplicateItem: self = .invalidArguments
        case .savedAndDeleted: self = .invalidArguments
        case .referenceCrossesZones: self = .invalidArguments
        case .referenceTargetMissing: self = .referenceViolation
        case .referenceWouldDangle: self = .referenceViolation
        case .referenceLimit: self = .limitExceeded
        case .parentCycle: self = .invalidArguments
        case .parentTooDeep: self = .limitExceeded
        case .permissionDenied, .referenceNotPermitted: self = .permissionFailure
        case .notSignedIn: self = .notAuthenticated
        case .databaseNotAllowed: self = .badDatabase
        case .recordTypeUnknown: self = .unknownItem
        case .systemTypeQuery: self = .invalidArguments
        case .fieldUnknown: self = .invalidArguments
        case .fieldNotQueryable: self = .invalidArguments
        case .fieldNotSortable: self = .invalidArguments
        case .fieldNotSearchable: self = .invalidArguments
        case .comparatorMismatch: self = .invalidArguments
        case .operandTypeMismatch: self = .invalidArguments
        case .indexBuilding: self = .serviceUnavailable
        case .queryTooBroad: self = .limitExceeded
        case .zoneRequired, .cursorInvalid, .cursorExpired: self = .invalidArguments
        case .changeTokenExpired: self = .changeTokenExpired
        case .subscriptionDuplicate: self = .serverRejectedRequest
        case .subscriptionMissing: self = .unknownItem
        case .subscriptionLimit: self = .limitExceeded
        case .subscriptionZoneNotAllowed: self = .invalidArguments
        case .duplicateSubscription: self = .invalidArguments
        case .alreadyShared: self = .alreadyShared
        case .shareConflict(.zoneIsShared): self = .serverRejectedRequest
        case .shareConflict(.zoneHasShares), .shareInvalid: self = .invalidArguments
        case .tooManyParticipants: self = .tooManyParticipants
        case .sharedTreeTooLarge: self = .limitExceeded
        case .shareMissing: self = .unknownItem
        case .participantUnverified: self = .participantMayNeedVerification
        case .atomicPeer: self = .batchRequestFailed
        case .dependsOn: self = .referenceViolation
        case .tooManyItems: self = .limitExceeded
        case .answerTooLarge: self = .limitExceeded
        case .requestIDMissing, .requestIDExpired, .requestIDAhead: self = .invalidArguments
        case .deadlinePassed: self = .deadlineExceeded
        case .cancelled: self = .operationCancelled
        case .overloaded: self = .requestRateLimited
        case .storageUnavailable, .diskFull: self = .serviceUnavailable
        case .internalFault: self = .internalError
        case .shuttingDown: self = .serviceUnavailable
        }
    }
}
