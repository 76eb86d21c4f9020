import TestSupport
import Testing

@testable import CloudKit

struct PendingChangesTests {
    private let zone = CKRecordZone.ID(zoneName: "Z")

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: self.zone) }
    private func save(_ name: String) -> CKSyncEngine.PendingRecordZoneChange { .saveRecord(self.id(name)) }
    private func delete(_ name: String) -> CKSyncEngine.PendingRecordZoneChange {
        .deleteRecord(self.id(name))
    }

    @Test func `duplicates collapse, and keep the first one's place`() {
        var pending = PendingRecordChanges()
        for change in [self.save("A"), self.save("B"), self.save("A")] { pending.add(change) }
        #expect(pending.changes == [self.save("A"), self.save("B")])
    }

    @Test func `a save and a deletion leave the one that came last`() {
        var pending = PendingRecordChanges()
        for change in [self.save("A"), self.save("B"), self.delete("A")] { pending.add(change) }
        #expect(pending.changes == [self.save("B"), self.delete("A")])
        pending.add(self.save("A"))
        #expect(pending.changes == [self.save("B"), self.save("A")])
    }

    @Test func `a change that is asked for again while it is on its way outlives the older one`() {
        var pending = PendingRecordChanges()
        pending.add(self.save("A"))
        pending.add(self.save("B"))
        let sent = pending.stamp
        pending.add(self.save("A"))
        pending.remove(self.save("A"), asOf: sent)
        pending.remove(self.save("B"), asOf: sent)
        #expect(pending.changes == [self.save("A")])
        pending.remove(self.save("A"), asOf: pending.stamp)
        #expect(pending.isEmpty)
    }

    @Test func `a deletion that came while the save was on its way stays`() {
        var pending = PendingRecordChanges()
        pending.add(self.save("A"))
        let sent = pending.stamp
        pending.add(self.delete("A"))
        let isRemoved = pending.remove(self.save("A"), asOf: sent)
        #expect(!isRemoved)
        #expect(pending.changes == [self.delete("A")])
    }

    @Test func `thousands that come and go stay in order`() {
        var pending = PendingRecordChanges()
        for number in 0..<5_000 { pending.add(self.save("\(number)")) }
        for number in 0..<5_000 where number % 7 != 0 { pending.remove(self.save("\(number)")) }
        pending.add(self.save("7"))
        pending.add(self.save("new"))
        let expected = stride(from: 0, to: 5_000, by: 7).map { self.save("\($0)") } + [self.save("new")]
        #expect(pending.changes == expected)
        #expect(pending.count == expected.count)
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `additions, removals and returns leave what a plain list has`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var pending = PendingRecordChanges()
        var list: [CKSyncEngine.PendingRecordZoneChange] = []
        for _ in 0..<4_000 {
            let number = Int.random(in: 0..<2_000, using: &generator)
            let change = Bool.random(using: &generator) ? self.save("\(number)") : self.delete("\(number)")
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                if !list.contains(change) {
                    list.removeAll { $0.recordID == change.recordID }
                    list.append(change)
                }
                pending.add(change)
            case 5..<9:
                let taken = list.prefix(Int.random(in: 0..<3, using: &generator)) + [change]
                for change in taken {
                    let isRemoved = pending.remove(change)
                    #expect(isRemoved == list.contains(change))
                    list.removeAll { $0 == change }
                }
            default:
                let isNew = !list.contains { $0.recordID == change.recordID }
                if isNew { list.insert(change, at: 0) }
                pending.putBack([change])
            }
            #expect(pending.count == list.count && pending.isEmpty == list.isEmpty)
        }
        #expect(pending.changes == list)
    }

    @Test func `a copy keeps its changes while batches are taken from the other`() {
        var pending = PendingRecordChanges()
        let all = (0..<1_000).map { self.save("\($0)") }
        for change in all { pending.add(change) }
        let copy = pending
        for change in all.prefix(900) { pending.remove(change) }
        #expect(copy.changes == all)
        #expect(pending.changes == Array(all.suffix(100)))
    }

    @Test func `of the changes of a zone the last one counts`() {
        let zone = CKRecordZone(zoneID: self.zone)
        let other = CKRecordZone(zoneName: "other")
        var pending = PendingZoneChanges()
        for change: CKSyncEngine.PendingDatabaseChange in [
            .saveZone(zone), .deleteZone(self.zone), .saveZone(other), .saveZone(zone), .saveZone(zone),
        ] { pending.add(change) }
        #expect(pending.changes == [.saveZone(other), .saveZone(zone)])
        #expect(pending.batch(countMax: 1) { _ in true } == [.saveZone(other)])
        #expect(pending.batch(countMax: 400) { $0 != other.zoneID } == [.saveZone(zone)])
        // What was added while a change was in flight replaces it.
        pending.putBack([.deleteZone(self.zone), .deleteZone(other.zoneID)])
        #expect(pending.changes == [.saveZone(other), .saveZone(zone)])
    }

    @Test func `a zone that is created and deleted is deleted`() {
        var pending = PendingZoneChanges()
        pending.add(.saveZone(CKRecordZone(zoneID: self.zone)))
        pending.add(.deleteZone(self.zone))
        #expect(pending.changes == [.deleteZone(self.zone)])
    }
}
