import Foundation
import RecordClient
import RecordModel
import Testing
import WireProtocol

@testable import CloudKit

struct `An error of an item` {
    private func error(_ failure: Failure, client: CKRecord? = nil, item: AnyHashable? = nil) -> CKError {
        CKError(failure, clientRecord: client, itemID: item, currentUser: "_me")
    }

    @Test(arguments: [1, 5, 6, 7, 9, 10, 11, 12, 14, 15, 20, 22, 23, 24, 26, 27, 31] as [UInt32])
    func `has the server's number`(number: UInt32) {
        let error = error(Failure(code: ErrorCode(rawValue: number), message: "m", retry: .never))
        #expect(error.code.rawValue == Int(number))
        // A program that is not signed in learns where a token goes.
        let advice = error.code == .notAuthenticated ? ": set TIDEMARK_TOKEN to a user's access token" : ""
        #expect(error.localizedDescription == "m" + advice)
    }

    @Test func `has the nearest of Apple's numbers for one of ours`() {
        let late = error(Failure(code: .deadlineExceeded, message: "late", retry: .now))
        #expect(late.code == .networkFailure)
        #expect((late.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 1000)
        let old = error(Failure(code: .operationUnknown, message: "old", retry: .never))
        #expect(old.code == .incompatibleVersion)
        #expect((old.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 1001)
        let lost = error(Failure(code: .assetNotAvailable, message: "lost", retry: .afterChange))
        #expect(lost.code == .serverRejectedRequest && lost.isOfLostFile)
        #expect((lost.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 35)
        let new = error(Failure(code: ErrorCode(rawValue: 77_777), message: "new", retry: .never))
        #expect(new.code == .internalError)
        #expect((new.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 77_777)
    }

    @Test func `says what to do`() {
        func advice(_ retry: RetryAdvice) -> CKError {
            error(Failure(code: .zoneBusy, message: "", retry: retry))
        }
        #expect(advice(.never).retryAdvice == .never)
        #expect(advice(.now).retryAdvice == .now)
        #expect(advice(.now).retryAfterSeconds == nil)
        #expect(advice(.afterChange).retryAdvice == .afterChange)
        #expect(advice(.after(milliseconds: 2_500)).retryAdvice == .after(seconds: 2.5))
        #expect(advice(.after(milliseconds: 2_500)).retryAfterSeconds == 2.5)
        #expect(CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 3]).retryAdvice == .after(seconds: 3))
        #expect(CKError(.zoneBusy).retryAdvice == .now)
        #expect(CKError(.badContainer).retryAdvice == .never)
    }

    @Test func `carries Apple's keys for logs, and of a throttle that the client is to slow down`() {
        func userInfo(_ code: ErrorCode, _ retry: RetryAdvice) -> [String: Any] {
            error(Failure(code: code, message: "busy", retry: retry)).userInfo
        }
        let full = userInfo(.serviceUnavailable, .after(milliseconds: 30_000))
        #expect(full[CKErrorRetryAfterKey] as? Double == 30)
        #expect(full["CKErrorShouldThrottleClient"] as? Int == 1)
        #expect(full["CKErrorDescription"] as? String == "busy")
        #expect(full[NSLocalizedDescriptionKey] as? String == "busy")
        #expect(full["NSDebugDescription"] as? String == "CKInternalErrorDomain: 2022")
        let busy = userInfo(.requestRateLimited, .after(milliseconds: 100))
        #expect(busy["CKErrorShouldThrottleClient"] as? Int == 1)
        #expect(busy["NSDebugDescription"] as? String == "CKInternalErrorDomain: 2061")
        for other in [userInfo(.zoneBusy, .after(milliseconds: 1)), userInfo(.serviceUnavailable, .now)] {
            #expect(other["CKErrorShouldThrottleClient"] == nil)
            #expect(other["CKErrorDescription"] as? String == "busy")
        }
        let crowded = CKError(.rejected(reason: .overloaded, message: "crowded"))
        #expect(crowded.userInfo["CKErrorShouldThrottleClient"] as? Int == 1)
        #expect(crowded.userInfo["CKErrorDescription"] as? String == "crowded")
    }

    @Test func `says who is at fault`() {
        let id = CKRecord.ID(recordName: "other")
        func cause(_ cause: Failure.Cause, _ item: AnyHashable?) -> CKBatchCause? {
            error(Failure(code: .batchRequestFailed, message: "", cause: cause, retry: .never), item: item)
                .batchCause
        }
        #expect(cause(.culprit, nil) == .culprit)
        #expect(cause(.dependsOn(index: 3), id) == .dependsOn(id))
        #expect(cause(.atomicPeer(index: 3), id) == .atomicPeer(id))
        #expect(cause(.atomicPeer(index: 3), nil) == nil)
        #expect(CKError(.zoneBusy).batchCause == nil)
    }

    @Test func `carries three records when the server has another state`() throws {
        let client = fetched([("a", .int64(1))])
        client["a"] = 2
        let failure = Failure(
            code: .serverRecordChanged,
            message: "client oplock error updating record",
            retry: .afterChange,
            serverRecord: model([("a", .int64(3))], tag: "t9")
        )
        let error = error(failure, client: client)
        #expect(error.clientRecord === client)
        #expect(error.serverRecord?.recordChangeTag == "t9")
        #expect(error.serverRecord?["a"] as? Int == 3)
        #expect(error.serverRecord?.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
        let ancestor = try #require(error.ancestorRecord)
        #expect(ancestor.recordChangeTag == "t1")
        #expect(ancestor["a"] as? Int == 1)
        #expect(ancestor.changedKeys() == [])
    }

    @Test func `has the last acknowledged state as the ancestor`() throws {
        let client = newRecord()
        client["a"] = 1
        client["b"] = 1
        client.setParent(CKRecord.ID(recordName: "p"))
        let failure = Failure(code: .serverRecordChanged, message: "", retry: .afterChange)
        #expect(error(failure, client: client).ancestorRecord == nil)
        let saved = RecordSaved(changeTag: "t5", system: model([], tag: "").system)
        client.saved(saved, sent: try client.save(policy: .changedKeys), currentUser: nil)
        client["a"] = 2
        client["b"] = nil
        let ancestor = try #require(error(failure, client: client).ancestorRecord)
        #expect(ancestor["a"] as? Int == 1)
        #expect(ancestor["b"] as? Int == 1)
        #expect(ancestor.parent?.recordID.recordName == "p")
        #expect(ancestor.recordChangeTag == "t5")
    }

    @Test func `has an ancestor with the fields that a save left alone`() throws {
        let client = fetched([("a", .int64(1)), ("b", .int64(1)), ("c", .int64(1))], parent: "p")
        client["a"] = 2
        client["b"] = nil
        let saved = RecordSaved(changeTag: "t2", system: model([], tag: "").system)
        client.saved(saved, sent: try client.save(policy: .changedKeys), currentUser: nil)
        let failure = Failure(code: .serverRecordChanged, message: "", retry: .afterChange)
        let ancestor = try #require(error(failure, client: client).ancestorRecord)
        #expect(ancestor["a"] as? Int == 2)
        #expect(ancestor.allKeys() == ["a", "c"])
        #expect(ancestor.parent?.recordID.recordName == "p")
    }

    @Test func `reads like Apple's`() {
        let error = error(
            Failure(
                code: .serverRecordChanged,
                message: "client oplock error updating record",
                retry: .afterChange
            )
        )
        #expect(error.description.hasPrefix("<CKError 0x"))
        #expect(
            error.description.hasSuffix(
                ": \"Server Record Changed\" (14/2004); server message = \"client oplock error updating record\">"
            )
        )
    }
}

struct `An error of a request` {
    @Test func `gathers those of its items`() {
        let bad = CKRecord.ID(recordName: "bad")
        let peer = CKRecord.ID(recordName: "peer")
        let error = CKError.partialFailure(
            [
                bad: CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 2]),
                peer: CKError(.batchRequestFailed),
            ],
            message: "Failed to modify some records"
        )
        #expect(error.code == .partialFailure)
        #expect(error.localizedDescription == "Failed to modify some records")
        #expect(error.partialErrorsByItemID?.count == 2)
        #expect((error.partialErrorsByItemID?[bad] as? CKError)?.code == .zoneBusy)
        #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 1011)
        #expect(error.retryAdvice == .after(seconds: 2))
        #expect(
            CKError.partialFailure([peer: CKError(.batchRequestFailed)], message: "").retryAdvice
                == .afterChange
        )
    }

    @Test func `takes the strictest advice of those at fault`() {
        func advice(_ codes: CKError.Code...) -> CKRetryAdvice {
            let errors = codes.enumerated().map { (AnyHashable($0.offset), CKError($0.element) as any Error) }
            return CKError.partialFailure(Dictionary(uniqueKeysWithValues: errors), message: "").retryAdvice
        }
        #expect(advice(.zoneBusy, .batchRequestFailed) == .now)
        #expect(advice(.zoneBusy, .serverRecordChanged) == .afterChange)
        #expect(advice(.permissionFailure, .serverRecordChanged) == .never)
    }

    static let clientErrors: [(ClientError, CKError.Code, CKRetryAdvice)] = [
        (.unreachable(description: "d"), .networkFailure, .now), (.responseLost, .serverResponseLost, .now),
        (.misconfigured(description: "d"), .badContainer, .never),
        (.cancelled, .operationCancelled, .never), (.closed, .networkUnavailable, .never),
        (.protocolViolation(WireError(.malformed, field: "f")), .internalError, .never),
        (.rejected(reason: .notAuthenticated, message: "m"), .notAuthenticated, .never),
        (.rejected(reason: .containerUnknown, message: "m"), .badContainer, .never),
        (.rejected(reason: .versionUnsupported, message: "m"), .incompatibleVersion, .never),
        (.rejected(reason: .overloaded, message: "m"), .serviceUnavailable, .after(seconds: 5)),
        (.rejected(reason: .drain, message: "m"), .networkFailure, .now),
        (.rejected(reason: .messageMalformed, message: "m"), .internalError, .never),
        (
            .refused(Failure(code: .limitExceeded, message: "m", retry: .afterChange)), .limitExceeded,
            .afterChange
        ),
        (.refused(Failure(code: .deadlineExceeded, message: "m", retry: .now)), .networkFailure, .now),
    ]

    @Test(arguments: Self.clientErrors.indices)
    func `says why there was no response`(index: Int) {
        let (clientError, code, advice) = Self.clientErrors[index]
        let error = CKError(clientError)
        #expect(error.code == code)
        #expect(error.retryAdvice == advice)
        #expect(error.userInfo[NSLocalizedDescriptionKey] is String)
        if case .after(let seconds) = advice { #expect(error.retryAfterSeconds == seconds) }
    }
}
