import Foundation
import RecordModel
import Testing

@testable import CloudKit

/// Every public type that can be a key is one without ending the process: some of Foundation's
/// classes on Linux do that.
@Suite struct HashTests {
    private let zone = CKRecordZone.ID(zoneName: "z")
    private var id: CKRecord.ID { CKRecord.ID(recordName: "r", zoneID: self.zone) }

    /// Makes the same twice; what is equal has one hash, and each is found in sets and dictionaries.
    private func check<Key: Hashable>(_ location: SourceLocation = #_sourceLocation, _ make: () -> Key) {
        let (one, other) = (make(), make())
        let set: Set<Key> = [one, other]
        #expect(set.contains(one) && set.contains(other), sourceLocation: location)
        #expect(set.count == (one == other ? 1 : 2), "\(Key.self)", sourceLocation: location)
        let table: [AnyHashable: Int] = [AnyHashable(one): 1]
        #expect(table[AnyHashable(one)] == 1, sourceLocation: location)
        if one == other { #expect(one.hashValue == other.hashValue, sourceLocation: location) }
    }

    @Test func `errors, whichever way they were made`() {
        let codes = (1...37).compactMap { CKError.Code(rawValue: $0) }
        #expect(Set(codes.map { CKError($0) }).count == 37)
        check { CKError(.serverRecordChanged, userInfo: [CKErrorRetryAfterKey: 3]) }
        check { CKError(_nsError: NSError(domain: CKErrorDomain, code: 14, userInfo: ["key": "value"])) }
        check { CKError.local(.invalidArguments, "text") }
        check { CKError.partialFailure([AnyHashable(self.id): CKError(.zoneBusy)], message: "text") }
        check { CKError(.zoneBusy) as NSError }
        check { CKError(.zoneBusy)._bridgeToObjectiveC() }
        check { CKError.Code.zoneBusy }
        check { CKRetryAdvice.after(seconds: 1) }
        check { CKBatchCause.atomicPeer(AnyHashable(self.id)) }
        let underlying = CKError.local(.invalidArguments, "text").userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(underlying.map { Set([$0]).count } == 1)
        #expect(CKError(.zoneBusy) != CKError(.zoneNotFound))
        #expect(CKError(.zoneBusy) == (NSError(domain: CKErrorDomain, code: 23) as? CKError))
    }

    @Test func `an error in a text is readable`() {
        let error = CKError.local(.invalidArguments, "Unknown field 'x'")
        let text = "\(error.userInfo[NSUnderlyingErrorKey] ?? "")"
        #expect(
            text.hasPrefix("Error Domain=CKInternalErrorDomain Code=2006 \"Unknown field 'x'\" UserInfo={")
        )
        #expect(
            "\(error as NSError)".hasPrefix(
                "Error Domain=CKErrorDomain Code=12 \"Unknown field 'x'\" UserInfo={"
            )
        )
        #expect("\(CKError(.zoneBusy) as NSError)" == "Error Domain=CKErrorDomain Code=23 \"(null)\"")
    }

    @Test func `records and what they hold`() {
        check { self.id }
        check { self.zone }
        check { CKRecordZone(zoneID: self.zone) }
        check { CKRecordZone.EncryptionScope.perRecord }
        check { CKRecordZone.Capabilities.atomic.rawValue }
        check { CKRecord(recordType: "Note", recordID: self.id) }
        check { CKRecord.Reference(recordID: self.id, action: .deleteSelf) }
        check { CKRecord.ReferenceAction.none }
        check { CKAsset(fileURL: URL(fileURLWithPath: "/tmp/none")) }
        check { CLLocation(latitude: 1, longitude: 2) }
        check { CKModifyRecordsOperation.RecordSavePolicy.allKeys }
    }

    @Test func `queries, changes and subscriptions`() {
        check { NSPredicate(format: "a == %@ AND b > 3", "x") }
        check { NSSortDescriptor(key: "a", ascending: true) }
        check { CKLocationSortDescriptor(key: "a", relativeLocation: CLLocation(latitude: 1, longitude: 2)) }
        check { CKQuery(recordType: "Note", predicate: NSPredicate(value: true)) }
        check { CKQueryCursor(bytes: [1, 2]) }
        check { CKServerChangeToken("t") }
        check { CKFetchRecordZoneChangesConfiguration() }
        check { CKDatabase.DatabaseChange.Modification(zoneID: self.zone) }
        check { CKDatabase.DatabaseChange.Deletion(zoneID: self.zone, reason: .deleted) }
        check { CKDatabase.RecordZoneChange.Deletion(recordID: self.id, recordType: "Note") }
        check { CKSyncEngine.PendingRecordZoneChange.saveRecord(self.id) }
        check { CKSyncEngine.PendingDatabaseChange.saveZone(CKRecordZone(zoneID: self.zone)) }
        check { CKDatabaseSubscription(subscriptionID: "d") }
        check { CKRecordZoneSubscription(zoneID: self.zone, subscriptionID: "z") }
        check {
            CKQuerySubscription(recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "q")
        }
        check { CKSubscription.NotificationInfo(alertBody: "text") }
        check { CKNotificationID("n") }
    }

    @Test func `shares, people, operations and connections`() {
        check { fetchedShare() }
        check { fetchedShare(serverShare([person("A")])).owner }
        check { CKUserIdentity(UserIdentity(userRecordName: "_a")) }
        check { CKUserIdentity.LookupInfo(emailAddress: "a@example.org") }
        check { CKShareAccessRequester(UserIdentity(userRecordName: "_a")) }
        check { CKShareBlockedIdentity(UserIdentity(userRecordName: "_a")) }
        check { CKAllowedSharingOptions.standard }
        check { CKOperationGroup() }
        check { CKOperation.Configuration() }
        check { CKFetchRecordsOperation() }
        check { CKServerConnection(url: "tidemark://h", token: "t") }
        check { CKServerConnection.TokenProvider { "t" } }
        check { CKContainer.unreachable() }
        check { CKContainer.unreachable().privateCloudDatabase }
    }
}
