import Foundation
import RecordModel
import Synchronization
import WireProtocol

@testable import CloudKit

/// What a scripted server says to a request for a page.
enum ScriptedPage: Sendable {
    /// The items, and the token and more-coming of the end.
    case items([ItemOutcome], token: String, moreComing: Bool = false)
    case failure(CKError.Code)
    /// No answer, until it is cancelled.
    case silence
}

/// A server that has a script for each feed: its pages, in order.
final class ScriptedFeed: Sendable {
    private let scripts: Mutex<[String: [ScriptedPage]]>
    private let asked = Mutex<[String]>([])

    init(_ scripts: [String: [ScriptedPage]]) {
        self.scripts = Mutex(scripts)
    }

    /// The requests that came, as "feed@token".
    var requests: [String] { self.asked.withLock { $0 } }

    var zones: PageSource<ZoneChangesPage> {
        { page, told in self.answer(page, feed: page.zoneID.zoneName, told) }
    }

    var database: PageSource<DatabaseChangesPage> {
        { page, told in self.answer(page, feed: "database", told) }
    }

    private func answer<Page: FeedPage>(
        _ page: Page,
        feed: String,
        _ told: @escaping @Sendable (Result<FeedPageContent<Page>, CKError>) -> Void
    ) -> any CKOperation.Work {
        self.asked.withLock { $0.append("\(feed)@\(String(decoding: page.token, as: UTF8.self))") }
        let next = self.scripts.withLock { scripts in
            scripts[feed]?.isEmpty == false ? scripts[feed]?.removeFirst() : nil
        }
        switch next {
        case .items(let outcomes, let token, let moreComing):
            let items = outcomes.enumerated().map { Item(index: UInt32($0), outcome: $1) }
            let end = End(token: Array(token.utf8), moreComing: moreComing)
            told(
                Result { () throws(CKError) in
                    let answers = try CKError.reading { () throws(WireError) in
                        try items.map { (item) throws(WireError) in try page.result(of: item, user: "_me") }
                    }
                    return try FeedPageContent(answers.compactMap { $0 }, of: page, end: end)
                }
            )
        case .failure(let code): told(.failure(.local(code, "scripted")))
        case .silence: return Silence { told(.failure(.cancelled)) }
        case nil: told(.failure(.local(.internalError, "the script has no more pages")))
        }
        return Silence {}
    }
}

/// A request that is not answered.
final class Silence: CKOperation.Work {
    private let ended: Mutex<(@Sendable () -> Void)?>

    init(_ ended: @escaping @Sendable () -> Void) {
        self.ended = Mutex(ended)
    }

    func cancel() {
        let ended = self.ended.withLock { ended in
            defer { ended = nil }
            return ended
        }
        ended?()
    }
}

/// The operation, with a script instead of a server.
final class ScriptedZoneChanges: CKFetchRecordZoneChangesOperation, @unchecked Sendable {
    let feed: ScriptedFeed

    init(_ feed: ScriptedFeed, zones: [String]) {
        self.feed = feed
        super.init()
        self.database = CKContainer.unreachable().privateCloudDatabase
        self.recordZoneIDs = zones.map { CKRecordZone.ID(zoneName: $0) }
    }

    override func main() { self.fetchChanges(from: self.feed.zones) }
}

/// The operation, with a script instead of a server.
final class ScriptedDatabaseChanges: CKFetchDatabaseChangesOperation, @unchecked Sendable {
    let feed: ScriptedFeed

    init(_ pages: [ScriptedPage]) {
        self.feed = ScriptedFeed(["database": pages])
        super.init()
        self.database = CKContainer.unreachable().privateCloudDatabase
    }

    override func main() { self.fetchChanges(from: self.feed.database) }
}

/// A record that a feed brings.
func saved(_ name: String, in zone: String, tag: String = "t1", parent: String? = nil) -> ItemOutcome {
    var record = model([], tag: tag, parent: parent)
    record.id = RecordID(zone: ZoneID(zoneName: zone), recordName: name)
    return .record(RecordMessage(record))
}

/// A record that a feed says is gone.
func gone(_ name: String, in zone: String) -> ItemOutcome {
    .recordDeleted(
        DeletedRecord(
            id: RecordID(zone: ZoneID(zoneName: zone), recordName: name),
            recordType: "Thing"
        )
    )
}

extension CKServerChangeToken {
    convenience init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    var text: String { String(decoding: self.bytes, as: UTF8.self) }
}

/// The number of an error's code; 0 without an error.
func code(_ error: (any Error)?) -> Int { (error as? CKError)?.code.rawValue ?? (error == nil ? 0 : -1) }
