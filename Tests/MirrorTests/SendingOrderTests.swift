import CloudKit
import GRDB
import TestSupport
import Testing

@testable import CloudKitMirror

struct SendingOrderTests {
    @Test
    func `each item comes behind what it needs, and every item comes once`() {
        var generator = SeededGenerator.fromEnvironment()
        print("SendingOrderTests: SEED=\(generator.seed)")
        for _ in 0..<200 {
            let items = Array(0..<Int.random(in: 1...30, using: &generator)).shuffled(using: &generator)
            // An item needs smaller ones, so that there is no circle; some are not among the items.
            var needs: [Int: [Int]] = [:]
            for item in items {
                needs[item] = (0..<3).map { _ in Int.random(in: -3...item, using: &generator) }
                    .filter { $0 != item }
            }
            let order = DependencyOrder.sorted(items, needs: needs)
            #expect(order.sorted() == items.sorted())
            for (index, item) in order.enumerated() {
                for need in needs[item] ?? [] where items.contains(need) {
                    #expect(order[..<index].contains(need))
                }
            }
        }
        #expect(DependencyOrder.sorted([1, 2, 3], needs: [1: [2], 2: [1]]) == [2, 1, 3])
        #expect(DependencyOrder.sorted([3, 1, 2], needs: [:]) == [3, 1, 2])
    }

    private static func change(_ first: Int64, _ last: Int64, inParts: Bool = false) -> PendingQueue.Change {
        PendingQueue.Change(
            key: RecordKey(zone: 1, name: "r"),
            type: "Note",
            first: first,
            last: last,
            hasPosition: inParts,
            content: .delete(CKRecord.ID(recordName: "r"), tag: nil)
        )
    }

    /// Compared with a search of all prefixes.
    @Test
    func `a request has as many whole transactions as fit`() {
        var generator = SeededGenerator.fromEnvironment()
        print("SendingOrderTests: SEED=\(generator.seed)")
        var (whole, none) = (0, 0)
        for _ in 0..<2_000 {
            let count = Int.random(in: 1...8, using: &generator)
            let firsts = (0..<count).map { _ in Int64.random(in: 1...5, using: &generator) }.sorted()
            let changes = firsts.map { first in
                Self.change(first, Bool.random(using: &generator) ? first : first + 1)
            }
            let countMax = Int.random(in: 1...8, using: &generator)
            let isAll = changes.count <= countMax || Bool.random(using: &generator)
            let batch = PendingQueue.cut(changes, isAll: isAll, countMax: countMax, bytesMax: .max)
            let lengths = (1...min(count, countMax)).filter { length in
                let rest = changes[length...]
                if rest.isEmpty { return isAll }
                return changes[..<length].allSatisfy { mine in rest.allSatisfy { $0.first > mine.last } }
            }
            #expect(batch?.changes.count == lengths.max())
            #expect(batch?.isAtomic ?? true)
            if batch == nil { none += 1 } else { whole += 1 }
        }
        #expect(whole > 100 && none > 100)
    }

    @Test
    func `parts of one transaction fill requests that are not atomic`() {
        let changes = (0..<5).map { _ in Self.change(1, 2, inParts: true) } + [Self.change(3, 3)]
        let first = PendingQueue.cut(changes, isAll: true, countMax: 3, bytesMax: .max)
        #expect(first?.changes.count == 3)
        #expect(first?.isAtomic == false)
        let second = PendingQueue.cut(Array(changes.dropFirst(3)), isAll: true, countMax: 3, bytesMax: .max)
        #expect(second?.changes.count == 2)
        let alone = PendingQueue.cut([changes[5], changes[5]], isAll: true, countMax: 3, bytesMax: 1)
        #expect(alone == nil)
    }
}
