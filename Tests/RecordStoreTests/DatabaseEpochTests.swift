import StorageContract
import TestSupport
import Testing

struct DatabaseEpochTests {
    private static let now: Int64 = 1_795_343_764_987

    @Test
    func `lives that begin in different milliseconds never share an epoch, and those of one hardly ever do`()
    {
        var generator = SeededGenerator(seed: 1)
        var former: Set<Int64> = []
        for now in Self.now..<Self.now + 100 {
            let epochs = Set(
                (0..<20).map { _ in DatabaseEpoch.fresh(nowMilliseconds: now, using: &generator) }
            )
            #expect(epochs.count == 20)
            #expect(former.isDisjoint(with: epochs))
            former.formUnion(epochs)
        }
        #expect(former.min().map { $0 > 0 } == true)
    }

    @Test
    func `positions of a life begin behind a million changes a second of the one before`() {
        let first = DatabaseEpoch.firstPosition(nowMilliseconds: Self.now)
        let second = DatabaseEpoch.firstPosition(nowMilliseconds: Self.now + 10_000)
        #expect(second - first == 10_000_000)
    }

    @Test(arguments: [Int64.min, -1, 0, 1 << 50, Int64.max])
    func `a clock that is wrong by any time leaves room for what comes`(now: Int64) {
        var generator = SeededGenerator(seed: 2)
        #expect((0...Int64.max).contains(DatabaseEpoch.fresh(nowMilliseconds: now, using: &generator)))
        #expect((0...Int64.max / 1_000).contains(DatabaseEpoch.firstPosition(nowMilliseconds: now)))
    }
}
