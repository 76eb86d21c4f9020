import Foundation
import Synchronization
import Testing

@testable import CloudKit

/// Steps that run when the test says so.
private final class Steps: Sendable {
    private let steps = Mutex<[@Sendable () -> Void]>([])

    var count: Int { self.steps.withLock { $0.count } }

    func add(_ step: @escaping @Sendable () -> Void) { self.steps.withLock { $0.append(step) } }

    func runFirst() {
        let step = self.steps.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        step?()
    }
}

@Suite struct FeedReaderTests {
    private func page(_ token: String, last: Bool = false) -> ScriptedPage {
        .items([saved("r\(token)", in: "a")], token: token, moreComing: !last)
    }

    private func reader(_ feed: ScriptedFeed, _ steps: Steps, _ events: Events) -> FeedReader<ZoneChangesPage>
    {
        FeedReader(
            first: ZoneChangesPage(CKRecordZone.ID(zoneName: "a"), since: nil, scope: .private),
            readsAll: true,
            source: feed.zones,
            callBack: { steps.add($0) },
            report: { report in
                switch report {
                case .page(let content, let isLast): events.note("\(content.token.text) \(isLast)")
                case .failed(let error): events.note("failed \(code(error))")
                }
            }
        )
    }

    @Test func `a page is read ahead of the callbacks, and no more than one`() {
        let feed = ScriptedFeed(["a": [page("1"), page("2"), page("3"), page("4", last: true)]])
        let steps = Steps()
        let events = Events()
        let reader = self.reader(feed, steps, events)
        reader.start()
        #expect(feed.requests == ["a@", "a@1"])
        #expect(steps.count == 1, "the second page waits")
        #expect(events.all == [])
        steps.runFirst()
        #expect(events.all == ["1 false"])
        #expect(feed.requests == ["a@", "a@1", "a@2"])
        steps.runFirst()
        steps.runFirst()
        #expect(events.all == ["1 false", "2 false", "3 false"])
        #expect(feed.requests == ["a@", "a@1", "a@2", "a@3"])
        steps.runFirst()
        #expect(events.all == ["1 false", "2 false", "3 false", "4 true"])
        #expect(steps.count == 0)
    }

    @Test func `a cancelled reader reports the items that had come, then the cancellation`() {
        let feed = ScriptedFeed(["a": [page("1"), .silence]])
        let steps = Steps()
        let events = Events()
        let reader = self.reader(feed, steps, events)
        reader.start()
        reader.cancel()
        steps.runFirst()
        steps.runFirst()
        #expect(events.all == ["1 false", "failed 20"])
        #expect(steps.count == 0)
    }

    @Test func `a reader that is cancelled before it starts asks and is cancelled`() {
        let steps = Steps()
        let events = Events()
        let reader = self.reader(ScriptedFeed(["a": [.silence]]), steps, events)
        reader.cancel()
        reader.start()
        steps.runFirst()
        #expect(events.all == ["failed 20"])
    }
}
