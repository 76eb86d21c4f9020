import CloudKit
import Foundation
import Testing

struct `Bridging of errors` {
    @Test func `takes errors of the domain and no others`() {
        #expect((NSError(domain: CKErrorDomain, code: 14) as? CKError)?.code == .serverRecordChanged)
        #expect(NSError(domain: NSCocoaErrorDomain, code: 14) as? CKError == nil)
        #expect((NSError(domain: CKErrorDomain, code: 14) as any Error) is CKError)
    }

    @Test func `keeps number and user info both ways`() {
        let error = CKError(.zoneBusy, userInfo: ["k": "v", CKErrorRetryAfterKey: 4])
        let nsError = error as NSError
        #expect(nsError.domain == "CKErrorDomain")
        #expect(nsError.code == 23)
        #expect(nsError.userInfo["k"] as? String == "v")
        #expect((nsError as? CKError)?.retryAfterSeconds == 4)
        #expect(CKError(_nsError: nsError) == error)
    }

    @Test func `archives what is text or a number, and nothing that ends the process`() throws {
        let item = CKRecord.ID(recordName: "a")
        var userInfo = CKError.partialFailure([item: CKError(.zoneBusy)], message: "text").userInfo
        userInfo[CKErrorRetryAfterKey] = 4
        userInfo["advice"] = CKRetryAdvice.now
        let error = CKError(.partialFailure, userInfo: userInfo)
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: error as NSError,
            requiringSecureCoding: true
        )
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSError.self, from: data) as? CKError
        #expect(read?.code == .partialFailure && read?.retryAfterSeconds == 4)
        #expect(read?.localizedDescription == "text" && read?.partialErrorsByItemID == nil)
    }

    @Test func `keeps a number that Apple has not`() {
        let error = CKError(_nsError: NSError(domain: CKErrorDomain, code: 999))
        #expect(error.code == .internalError)
        #expect(error.errorCode == 999)
    }

    @Test func `reads partial errors that were delivered as NSError`() {
        let id = CKRecord.ID(recordName: "a")
        let nsError = NSError(
            domain: CKErrorDomain,
            code: 2,
            userInfo: [CKPartialErrorsByItemIDKey: [id: NSError(domain: CKErrorDomain, code: 11)]]
        )
        let error = nsError as? CKError
        #expect((error?.partialErrorsByItemID?[id] as? CKError)?.code == .unknownItem)
    }

    @Test func `knows every number from 1 to 37`() {
        #expect((1...37).allSatisfy { CKError.Code(rawValue: $0) != nil })
        #expect(CKError.Code(rawValue: 0) == nil)
        #expect(CKError.Code(rawValue: 38) == nil)
        #expect(CKError.participantAlreadyInvited.rawValue == 37)
        #expect(CKError.internalError.rawValue == 1)
    }

    @Test func `keys of user info have Apple's values`() {
        #expect(CKErrorUserDidResetEncryptedDataKey == "CKUserDidResetEncryptedData")
        #expect(CKErrorRetryAfterKey == "CKRetryAfter" && CKPartialErrorsByItemIDKey == "CKPartialErrors")
        let records = [
            CKRecordChangedErrorAncestorRecordKey, CKRecordChangedErrorServerRecordKey,
            CKRecordChangedErrorClientRecordKey,
        ]
        #expect(records == ["AncestorRecord", "ServerRecord", "ClientRecord"])
    }
}
