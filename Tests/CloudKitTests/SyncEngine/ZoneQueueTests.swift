import Testing

@testable import CloudKit

struct ZoneQueueTests {
    private let zones = "ABCDEFG".map { CKRecordZone.ID(zoneName: String($0)) }

    private func names(_ zones: [CKRecordZone.ID]) -> String { zones.map(\.zoneName).joined() }

    @Test func `four at once, the others when one of those has ended`() {
        var queue = ZoneQueue()
        #expect(self.names(queue.start(of: self.zones, .init())) == "ABCD")
        #expect(queue.start(of: self.zones, .init()) == [])
        queue.ended(self.zones[2])
        #expect(self.names(queue.start(of: Array(self.zones.dropFirst(4)), .init())) == "E")
    }

    @Test func `the prioritized are done before any other begins, in their order`() {
        var queue = ZoneQueue()
        var options = CKSyncEngine.FetchChangesOptions()
        options.prioritizedZoneIDs = [self.zones[5], self.zones[1], CKRecordZone.ID(zoneName: "unknown")]
        #expect(self.names(queue.start(of: self.zones, options)) == "FB")
        queue.ended(self.zones[5])
        let rest = self.zones.filter { $0 != self.zones[5] }
        #expect(queue.start(of: rest, options) == [])
        queue.ended(self.zones[1])
        #expect(self.names(queue.start(of: rest.filter { $0 != self.zones[1] }, options)) == "ACDE")
    }

    @Test func `zones out of the scope stay out`() {
        var queue = ZoneQueue()
        let options = CKSyncEngine.FetchChangesOptions(scope: .allExcluding([self.zones[0]]))
        #expect(self.names(queue.start(of: Array(self.zones.prefix(2)), options)) == "B")
    }

    @Test func `a zone that fails is not begun again, one whose token expires is, three times`() {
        var queue = ZoneQueue()
        let one = [self.zones[0]]
        for _ in 0..<2 {
            #expect(queue.start(of: one, .init()) == one)
            let mayBeginAgain = queue.expired(one[0])
            #expect(mayBeginAgain)
        }
        #expect(queue.start(of: one, .init()) == one)
        let mayBeginAgain = queue.expired(one[0])
        #expect(!mayBeginAgain)
        #expect(queue.start(of: one, .init()) == [])
    }
}
