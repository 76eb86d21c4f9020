import RecordModel
import RecordStore
import WireProtocol

extension Failure {
    /// What the wire says about a refusal of the store: number, text, fault and advice.
    init(_ error: StoreError) {
        self.init(
            code: ErrorCode(error),
            message: error.text,
            cause: error.cause,
            retry: error.retry,
            serverRecord: error.serverRecord
        )
    }
}

extension StoreError {
    /// Who is at fault within the request.
    fileprivate var cause: Failure.Cause {
        switch self {
        case .atomicPeer(let index): .atomicPeer(index: UInt32(clamping: index))
        case .dependsOn(let index): .dependsOn(index: UInt32(clamping: index))
        case .zoneMissing, .zoneNotModifiable, .recordMissing, .recordExists, .changeTagStale: .culprit
        case .recordTypeMismatch, .nameInvalid, .fieldMalformed, .fieldTypeMismatch: .culprit
        case .fieldEncryptionMismatch, .fieldEncryptionNotAllowed, .recordTooLarge: .culprit
        case .tooManyFields, .tooManyRecordTypes, .tooManyZones: .culprit
        case .assetNotAvailable, .quotaExceeded, .assetTooLarge, .assetNotNamed: .culprit
        case .assetUploadExpired, .newTypeInProduction, .newFieldInProduction: .culprit
        case .duplicateItem, .savedAndDeleted, .referenceCrossesZones, .referenceTargetMissing: .culprit
        case .referenceWouldDangle, .referenceLimit, .parentCycle, .parentTooDeep: .culprit
        case .permissionDenied, .referenceNotPermitted, .notSignedIn, .databaseNotAllowed: .culprit
        case .recordTypeUnknown, .systemTypeQuery, .fieldUnknown, .fieldNotQueryable: .culprit
        case .fieldNotSortable, .fieldNotSearchable, .comparatorMismatch, .operandTypeMismatch: .culprit
        case .indexBuilding, .queryTooBroad, .cursorInvalid, .cursorExpired, .changeTokenExpired: .culprit
        case .subscriptionDuplicate, .subscriptionMissing, .subscriptionLimit: .culprit
        case .subscriptionZoneNotAllowed, .duplicateSubscription: .culprit
        case .alreadyShared, .shareConflict, .shareInvalid, .tooManyParticipants: .culprit
        case .sharedTreeTooLarge, .shareMissing, .participantUnverified, .zoneRequired: .culprit
        case .tooManyItems, .answerTooLarge: .culprit
        case .requestIDMissing, .requestIDExpired, .requestIDAhead: .culprit
        case .deadlinePassed, .cancelled: .culprit
        case .overloaded, .storageUnavailable, .diskFull, .internalFault, .shuttingDown: .culprit
        }
    }

    /// What to do about it.
    fileprivate var retry: Failure.Retry {
        switch self {
        case .zoneMissing, .recordMissing, .recordExists, .changeTagStale: .afterChange
        case .referenceTargetMissing, .referenceWouldDangle, .referenceLimit: .afterChange
        case .parentCycle, .parentTooDeep: .afterChange
        case .atomicPeer, .dependsOn: .afterChange
        case .recordTooLarge, .tooManyItems, .answerTooLarge: .afterChange
        case .tooManyFields, .tooManyRecordTypes, .tooManyZones: .afterChange
        case .notSignedIn: .afterChange
        case .zoneNotModifiable, .recordTypeMismatch, .nameInvalid, .fieldMalformed: .never
        case .fieldTypeMismatch, .fieldEncryptionMismatch, .fieldEncryptionNotAllowed: .never
        case .assetNotAvailable, .quotaExceeded, .assetTooLarge, .assetNotNamed: .afterChange
        case .assetUploadExpired: .now
        case .newTypeInProduction, .newFieldInProduction: .never
        case .duplicateItem, .savedAndDeleted, .referenceCrossesZones: .never
        case .permissionDenied, .referenceNotPermitted, .databaseNotAllowed: .never
        case .requestIDMissing, .requestIDExpired, .requestIDAhead, .cancelled: .never
        case .recordTypeUnknown, .systemTypeQuery, .fieldUnknown, .fieldNotQueryable: .never
        case .fieldNotSortable, .fieldNotSearchable, .comparatorMismatch, .operandTypeMismatch: .never
        case .queryTooBroad, .cursorInvalid, .cursorExpired, .changeTokenExpired: .afterChange
        case .subscriptionDuplicate, .subscriptionZoneNotAllowed, .duplicateSubscription: .never
        case .subscriptionMissing, .subscriptionLimit: .afterChange
        case .alreadyShared, .shareConflict, .tooManyParticipants, .participantUnverified: .afterChange
        case .shareInvalid, .sharedTreeTooLarge, .shareMissing, .zoneRequired: .never
        case .indexBuilding(_, let milliseconds): .after(milliseconds: milliseconds)
        case .deadlinePassed: .now
        case .overloaded(let milliseconds): .after(milliseconds: milliseconds)
        case .storageUnavailable(let milliseconds), .diskFull(let milliseconds):
            .after(milliseconds: milliseconds)
        case .internalFault: .after(milliseconds: 1_000)
        case .shuttingDown: .now
        }
    }

    /// With a conflict: the record that the server has.
    fileprivate var serverRecord: Record? {
        switch self {
        case .recordExists(let record): record
        case .changeTagStale(let record): record
        case .zoneMissing, .zoneNotModifiable, .recordMissing: nil
        case .recordTypeMismatch, .nameInvalid, .fieldMalformed, .fieldTypeMismatch: nil
        case .fieldEncryptionMismatch, .fieldEncryptionNotAllowed, .recordTooLarge: nil
        case .tooManyFields, .tooManyRecordTypes, .tooManyZones: nil
        case .assetNotAvailable, .quotaExceeded, .assetTooLarge, .assetNotNamed: nil
        case .assetUploadExpired, .newTypeInProduction, .newFieldInProduction: nil
        case .duplicateItem, .savedAndDeleted, .referenceCrossesZones, .referenceTargetMissing: nil
        case .referenceWouldDangle, .referenceLimit, .parentCycle, .parentTooDeep: nil
        case .recordTypeUnknown, .systemTypeQuery, .fieldUnknown, .fieldNotQueryable: nil
        case .fieldNotSortable, .fieldNotSearchable, .comparatorMismatch, .operandTypeMismatch: nil
        case .indexBuilding, .queryTooBroad, .cursorInvalid, .cursorExpired, .changeTokenExpired: nil
        case .subscriptionDuplicate, .subscriptionMissing, .subscriptionLimit: nil
        case .subscriptionZoneNotAllowed, .duplicateSubscription: nil
        case .permissionDenied, .referenceNotPermitted, .notSignedIn, .databaseNotAllowed: nil
        case .atomicPeer, .dependsOn: nil
        case .alreadyShared, .shareConflict, .shareInvalid, .tooManyParticipants: nil
        case .sharedTreeTooLarge, .shareMissing, .participantUnverified, .zoneRequired: nil
        case .tooManyItems, .answerTooLarge, .requestIDMissing, .requestIDExpired, .requestIDAhead: nil
        case .deadlinePassed, .cancelled: nil
        case .overloaded, .storageUnavailable, .diskFull, .internalFault, .shuttingDown: nil
        }
    }
}
