import Foundation
import RecordModel
import Testing
import WireProtocol

@testable import CloudKit

@Suite struct ZoneSnapshotTests {
    private let database = CKContainer.unreachable().privateCloudDatabase
    private let zoneID = CKRecordZone.ID(zoneName: "a")

    private func results(
        _ items: [ItemOutcome],
        token: String,
        moreComing: Bool = true,
        of total: UInt64? = nil
    ) throws -> BatchResults<ZoneChangesPage> {
        let page = ZoneChangesPage(self.zoneID, since: nil, scope: .private)
        var results = BatchResults<ZoneChangesPage>()
        for (index, outcome) in items.enumerated() {
            if let answer = try page.result(of: Item(index: UInt32(index), outcome: outcome), user: "_me") {
                results.add(answer)
            }
        }
        let totals = total.map { SnapshotTotals(records: $0, bytes: $0 * 100) }
        results.end = End(token: Array(token.utf8), moreComing: moreComing, totals: totals)
        return results
    }

    private func names(_ page: CKZoneSnapshot.Page) -> [String] { page.records.map(\.recordID.recordName) }

    @Test func `it counts records of the snapshot, and ends with what changed since and the token`() throws {
        var iterator = self.database.zoneSnapshot(of: self.zoneID).makeAsyncIterator()
        let first = try iterator.page(
            of: self.results([saved("p", in: "a"), saved("c", in: "a", parent: "p")], token: "1", of: 4)
        )
        #expect(self.names(first) == ["p", "c"])
        #expect(first.state.recordsFetched == 2)
        #expect(first.state.recordsTotal == 4)
        #expect(first.state.bytesTotal == 400)
        #expect(first.state.fractionCompleted == 0.5)
        #expect(first.state.changeToken == nil)
        let second = try iterator.page(
            of: self.results([saved("p", in: "a"), saved("d", in: "a")], token: "2", of: 4)
        )
        #expect(self.names(second) == ["d"], "a parent that was sent ahead comes once")
        #expect(second.state.recordsFetched == 3)
        #expect(second.state.fractionCompleted == 0.75)
        let last = try iterator.page(
            of: self.results(
                [saved("c", in: "a", tag: "t2"), gone("e", in: "a")],
                token: "3",
                moreComing: false
            )
        )
        #expect(self.names(last) == ["c"])
        #expect(last.deletions.map(\.recordID.recordName) == ["e"])
        #expect(last.state.recordsFetched == 3)
        #expect(last.state.recordsTotal == 4)
        #expect(last.state.isComplete)
        #expect(last.state.fractionCompleted == 1)
        #expect(last.state.changeToken?.text == "3")
    }

    @Test func `a complete one has no more pages`() async throws {
        var iterator = self.database.zoneSnapshot(of: self.zoneID).makeAsyncIterator()
        let page = try iterator.page(of: self.results([], token: "1", moreComing: false, of: 0))
        #expect(page.state.fractionCompleted == 1)
        #expect(try await iterator.next() == nil)
        var resumed = self.database.zoneSnapshot(resuming: page.state).makeAsyncIterator()
        #expect(try await resumed.next() == nil)
    }

    @Test func `its state goes on in another process from where it was`() throws {
        let snapshot = self.database.zoneSnapshot(of: self.zoneID, order: .newestFirst, desiredKeys: ["k"])
        var iterator = snapshot.makeAsyncIterator()
        let page = try iterator.page(of: self.results([saved("r", in: "a")], token: "1", of: 2))
        let data = try JSONEncoder().encode(page.state)
        let state = try JSONDecoder().decode(CKZoneSnapshot.State.self, from: data)
        #expect(state == page.state)
        #expect(state.zoneID == self.zoneID)
        let expected = FetchChanges(
            scope: .private,
            zone: ZoneID(zoneName: "a"),
            token: Array("1".utf8),
            desiredKeys: ["k", "___share", "___sharing"],
            order: .newestFirst
        )
        #expect(try state.request(scope: .private).operation(user: "_me") == .fetchChanges(expected))
        var resumed = self.database.zoneSnapshot(resuming: state).makeAsyncIterator()
        let next = try resumed.page(of: self.results([saved("s", in: "a")], token: "2", of: 2))
        #expect(next.state.recordsFetched == 2)
    }

    @Test func `it begins without a token, in its order`() throws {
        for (order, model) in [
            (CKZoneSnapshot.Order.creation, FetchChanges.SnapshotOrder.creation),
            (.newestFirst, .newestFirst),
        ] {
            let state = CKZoneSnapshot.State(zoneID: self.zoneID, order: order, desiredKeys: nil)
            #expect(
                try state.request(scope: .private).operation(user: "_me")
                    == .fetchChanges(
                        FetchChanges(scope: .private, zone: ZoneID(zoneName: "a"), order: model)
                    )
            )
            #expect(state.fractionCompleted == 0)
        }
    }

    @Test func `one that promises more and stands still fails, and stays where it was`() throws {
        var iterator = self.database.zoneSnapshot(of: self.zoneID).makeAsyncIterator()
        _ = try iterator.page(of: self.results([], token: "1", of: 2))
        #expect { try iterator.page(of: self.results([], token: "1", of: 2)) } throws: { code($0) == 1 }
        #expect { try iterator.page(of: self.results([], token: "", of: 2)) } throws: { code($0) == 1 }
        let page = try iterator.page(of: self.results([gone("r", in: "a")], token: "1"))
        #expect(page.deletions.count == 1)
    }

    @Test func `more records than were counted are no more than all`() throws {
        var iterator = self.database.zoneSnapshot(of: self.zoneID).makeAsyncIterator()
        let items = [saved("r", in: "a"), saved("s", in: "a")]
        let page = try iterator.page(of: self.results(items, token: "1", of: 1))
        #expect(page.state.fractionCompleted == 1)
        #expect(!page.state.isComplete)
    }
}
