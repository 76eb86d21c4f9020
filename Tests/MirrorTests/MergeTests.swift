import GRDB
import Testing

@testable import CloudKitMirror

struct MergeTests {
    private static let values: [DatabaseValue] = [.null, 1.databaseValue, 2.databaseValue, 3.databaseValue]

    /// Every combination of an ancestor, two sides, a value in flight and a winner.
    @Test
    func `a change of one side is merged, and one of two sides is a conflict with all values`() {
        var conflicts = 0
        for ancestor in Self.values {
            for mine in Self.values {
                for theirs in Self.values {
                    for sent in [nil] + Self.values.map(Optional.some) {
                        for winner in [Merge.Side.mine, .theirs] {
                            let merge = Merge(
                                ancestor: [ancestor],
                                mine: [mine],
                                theirs: [theirs],
                                sent: sent.map { [0: [$0]] } ?? [:],
                                winner: winner
                            )
                            let isOurs: Bool = sent == theirs
                            let base: DatabaseValue = isOurs ? theirs : ancestor
                            let iChanged: Bool = mine != base
                            let theyChanged: Bool = theirs != ancestor && !isOurs
                            let isDifferent: Bool = mine != theirs
                            let isConflict = iChanged && theyChanged && isDifferent
                            conflicts += isConflict ? 1 : 0
                            #expect(merge.conflicts.isEmpty == !isConflict)
                            let expected =
                                isConflict
                                ? (winner == .mine ? mine : theirs) : (iChanged ? mine : theirs)
                            #expect(merge.row == [expected])
                            guard let conflict = merge.conflicts.first else { continue }
                            #expect(conflict.mine == mine)
                            #expect(conflict.theirs == theirs)
                            #expect(conflict.ancestor == ancestor)
                        }
                    }
                }
            }
        }
        #expect(conflicts > 0)
    }

    @Test
    func `a value that is set back while its response is out is sent`() {
        let (old, new) = (1.databaseValue, 2.databaseValue)
        #expect(Merge.changes(of: [old], since: [old], sent: [:]) == [])
        #expect(Merge.changes(of: [old], since: [old], sent: [0: [new]]) == [0])
        #expect(Merge.changes(of: [new], since: [old], sent: [:]) == [0])
    }
}
