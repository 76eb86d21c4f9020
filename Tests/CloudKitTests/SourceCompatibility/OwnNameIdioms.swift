// Compiled, not run: names of an app's own in extensions of CloudKit's types. A name that only this
// SDK had inside such a type would hide them.
import CloudKit

private typealias QueryPage = (found: [CKRecord], hasMore: Bool)
private typealias RecordZoneChanges = [CKRecord.ID: Date]
private typealias DatabaseChanges = Set<CKRecordZone.ID>

private struct Notifications {
    var unread = 0
}

private enum ListeningStatus {
    case quiet, loud
}

private enum RetryAdvice {
    case later
}

private struct BatchCause {
    var text = ""
}

extension CKDatabase {
    fileprivate func firstPage(of query: CKQuery) async throws -> QueryPage {
        let (matches, cursor) = try await self.records(matching: query)
        return (try matches.map { try $0.1.get() }, cursor != nil)
    }

    fileprivate func datesOfChanges() -> RecordZoneChanges { [:] }

    fileprivate func changedZones(since token: CKServerChangeToken?) async throws -> DatabaseChanges {
        DatabaseChanges(try await self.databaseChanges(since: token).modifications.map(\.zoneID))
    }
}

extension CKContainer {
    fileprivate func inbox() -> Notifications { Notifications(unread: 1) }
    fileprivate var loudness: ListeningStatus { .quiet }
}

extension CKError {
    fileprivate var ownAdvice: RetryAdvice { .later }
    fileprivate var ownCause: BatchCause { BatchCause(text: self.localizedDescription) }
}
