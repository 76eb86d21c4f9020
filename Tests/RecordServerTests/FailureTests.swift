import AssetStorage
import RecordModel
import StorageContract
import Testing
import WireProtocol

@testable import RecordServer

/// The rules of sections 5 and 8 of the specification, and CloudKit's texts: a client's code
/// depends on the numbers, its author on the words.
struct FailureTests {
    private static let record = Record(
        id: RecordID(zone: .default, recordName: "r"),
        recordType: "Note",
        changeTag: "1",
        system: SystemFields(
            createdMilliseconds: 1,
            modifiedMilliseconds: 2,
            createdBy: "a",
            modifiedBy: "b"
        ),
        body: .empty
    )

    @Test(arguments: [
        (StoreError.zoneMissing, ErrorCode.zoneNotFound, "Zone Not Found"),
        (.recordMissing, .unknownItem, "Record not found"),
        (.recordExists(Self.record), .serverRecordChanged, "record to insert already exists"),
        (.changeTagStale(Self.record), .serverRecordChanged, "client oplock error updating record"),
        (
            .fieldTypeMismatch(recordType: "T", field: "f", given: .string, defined: .reference),
            .invalidArguments,
            "invalid attempt to set value type STRING for field 'f' for type 'T', defined to be: REFERENCE"
        ),
        (
            .fieldTypeMismatch(recordType: "T", field: "f", given: .string, defined: .assetList),
            .invalidArguments,
            "invalid attempt to set value type STRING for field 'f' for type 'T', defined to be: LIST<ASSET>"
        ),
        (.newTypeInProduction("T"), .invalidArguments, "Cannot create new type T in production schema"),
        (
            .newFieldInProduction(recordType: "T", field: "f"), .invalidArguments,
            "Cannot create or modify field 'f' in record 'T' in production schema"
        ),
        (.duplicateItem, .invalidArguments, "You can't save the same record twice"),
        (.savedAndDeleted, .invalidArguments, "You can't save and delete the same record"),
        (
            .referenceWouldDangle(referrer: "h"), .referenceViolation,
            "Record delete would violate validating reference, rejecting update"
        ),
        (
            .assetNotAvailable(field: "f"), .assetNotAvailable,
            "field 'f' names an asset that is not in the database: upload it, then save again"
        ),
        (
            .quotaExceeded(Quota(of: .user, bytesMax: 5)), .quotaExceeded,
            "the user may store 5 bytes: delete something, or ask the operator for more"
        ),
        (
            .quotaExceeded(Quota(of: .container, bytesMax: 6)), .quotaExceeded,
            "the container may store 6 bytes: delete something, or ask the operator for more"
        ),
        (.permissionDenied(.write), .permissionFailure, "WRITE operation not permitted"),
        (.permissionDenied(.create), .permissionFailure, "CREATE operation not permitted"),
        (
            .referenceNotPermitted(target: "r"), .permissionFailure,
            "WRITE on 'r' is needed for a parent or a reference with an action: refer to it with the action none"
        ),
        (.atomicPeer(index: 3), .batchRequestFailed, "Atomic failure"),
        (.subscriptionDuplicate(of: "s"), .serverRejectedRequest, "subscription is duplicate of 's'"),
    ])
    func `a refused item says why, in words of CloudKit if known`(
        error: StoreError,
        code: ErrorCode,
        text: String
    ) {
        let failure = Failure(error)
        #expect(failure.code == code)
        #expect(failure.message == text)
    }

    @Test func `a conflict brings the server's record, and nothing else does`() {
        #expect(Failure(StoreError.recordExists(Self.record)).serverRecord == Self.record)
        #expect(Failure(StoreError.changeTagStale(Self.record)).serverRecord == Self.record)
        #expect(Failure(StoreError.recordMissing).serverRecord == nil)
    }

    @Test func `who is innocent, or waits for another, names the item at fault`() {
        #expect(Failure(StoreError.atomicPeer(index: 7)).cause == .atomicPeer(index: 7))
        #expect(Failure(StoreError.dependsOn(index: 8)).cause == .dependsOn(index: 8))
        #expect(Failure(StoreError.dependsOn(index: 8)).code == .referenceViolation)
        #expect(Failure(StoreError.recordMissing).cause == .culprit)
    }

    @Test func `what keeps a file of an asset from being written is named`() {
        let texts: [(AssetStoreError, String)] = [
            (.tooManyOpenFiles, "too many files open"), (.full, "the server's disk is full"),
            (.failed(code: 5), "the server cannot write to its disk"),
        ]
        for (error, text) in texts {
            let failure = Failure(error, item: 3)
            #expect(failure.code == .serviceUnavailable)
            #expect(failure.cause == .dependsOn(index: 3))
            #expect(failure.message.contains(text), "\(failure.message)")
        }
    }

    @Test(arguments: [
        (
            StoreError.overloaded(retryAfterMilliseconds: 5), ErrorCode.requestRateLimited,
            RetryAdvice.after(milliseconds: 5)
        ),
        (.storageUnavailable(retryAfterMilliseconds: 6), .serviceUnavailable, .after(milliseconds: 6)),
        (.diskFull(retryAfterMilliseconds: 7), .serviceUnavailable, .after(milliseconds: 7)),
        (.shuttingDown, .serviceUnavailable, .now),
        (.deadlinePassed, .deadlineExceeded, .now),
        (.responseTooLarge(bytes: 1), .limitExceeded, .afterChange),
        (.tooManyItems(401), .limitExceeded, .afterChange),
        (.tooMuchWork(.indexEntries), .limitExceeded, .afterChange),
        (.tooMuchWork(.definitions), .limitExceeded, .afterChange),
        (.tooMuchWork(.comparisons), .limitExceeded, .afterChange),
        (.tooMuchWork(.storedBytes), .limitExceeded, .afterChange),
        (.tooMuchWork(.sharedRecords), .limitExceeded, .afterChange),
        (.tooManyFields(recordType: "T"), .limitExceeded, .afterChange),
        (.tooManyRecordTypes, .limitExceeded, .afterChange),
        (.tooManyZones, .limitExceeded, .afterChange),
        (.notSignedIn, .notAuthenticated, .afterChange),
        (.databaseNotAllowed, .badDatabase, .never),
        (.requestIDExpired, .invalidArguments, .never),
        (.requestIDAhead, .invalidArguments, .never),
        (.cancelled, .operationCancelled, .never),
        (.assetNotAvailable(field: "f"), .assetNotAvailable, .afterChange),
        (.quotaExceeded(Quota(of: .user, bytesMax: 5)), .quotaExceeded, .afterChange),
        (.assetTooLarge(index: 0, bytes: 5), .limitExceeded, .afterChange),
        (.assetNotNamed(index: 0), .assetNotAvailable, .afterChange),
        (.assetUploadExpired, .assetNotAvailable, .now),
    ])
    func `a refused request says what to do`(error: StoreError, code: ErrorCode, retry: RetryAdvice) {
        let failure = Failure(error)
        #expect(failure.code == code)
        #expect(failure.retry == retry)
    }
}
