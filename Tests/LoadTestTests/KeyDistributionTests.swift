import Foundation
import Testing

@testable import tidemark_load

@Suite
struct KeyDistributionTests {
    private static let draws = 200_000

    private static func counts(_ distribution: KeyDistribution) -> [Int] {
        var generator = SplitMix64(seed: 11)
        var counts = Array(repeating: 0, count: distribution.count)
        for _ in 0..<self.draws { counts[distribution.read(using: &generator)] += 1 }
        return counts
    }

    @Test
    func `uniform keys come equally often`() {
        let counts = Self.counts(KeyDistribution(.uniform, count: 100))
        #expect(counts.allSatisfy { abs($0 - 2_000) < 300 })
    }

    @Test(arguments: [10, 100, 1_000])
    func `zipfian keys come as often as their ranks say`(count: Int) {
        let counts = Self.counts(KeyDistribution(.zipfian, count: count)).sorted(by: >)
        let sum = (1...count).reduce(0.0) { $0 + 1 / pow(Double($1), 0.99) }
        // The method is exact for the first two ranks and an approximation from there on.
        for rank in [1, 2] {
            let expected = Double(Self.draws) / pow(Double(rank), 0.99) / sum
            #expect(abs(Double(counts[rank - 1]) / expected - 1) < 0.05, "rank \(rank)")
        }
        let firstTenth = Double(counts.prefix(count / 10).reduce(0, +)) / Double(Self.draws)
        let expected = (1...count / 10).reduce(0.0) { $0 + 1 / pow(Double($1), 0.99) } / sum
        #expect(abs(firstTenth - expected) < 0.05)
    }

    @Test
    func `the most wanted keys of a zipfian distribution are far apart`() {
        let counts = Self.counts(KeyDistribution(.zipfian, count: 10_000))
        let hottest = counts.indices.sorted { counts[$0] > counts[$1] }.prefix(10).sorted()
        #expect(zip(hottest, hottest.dropFirst()).allSatisfy { $1 - $0 > 1 })
    }

    @Test
    func `every rank of a zipfian distribution has a key of its own`() {
        let counts = Self.counts(KeyDistribution(.zipfian, count: 50))
        #expect(counts.allSatisfy { $0 > 0 })
    }

    @Test
    func `the latest key is read most, and the one before it less`() {
        var distribution = KeyDistribution(.latest, count: 1_000)
        var generator = SplitMix64(seed: 3)
        // All keys in turn, from the first, and 300 of them again.
        let written = (0..<1_300).map { _ in distribution.write(using: &generator) }
        #expect(written == (0..<1_300).map { $0 % 1_000 })
        let counts = Self.counts(distribution)
        #expect(counts[299] == counts.max())
        #expect(counts[299] > counts[298])
        #expect(counts[298] > counts[200])
        #expect(counts[200] > counts[301])
    }

    @Test(arguments: KeyDistribution.Shape.allCases, [1, 2, 3])
    func `a few keys are enough`(shape: KeyDistribution.Shape, count: Int) {
        var distribution = KeyDistribution(shape, count: count)
        var generator = SplitMix64(seed: 5)
        for _ in 0..<1_000 {
            #expect((0..<count).contains(distribution.read(using: &generator)))
            #expect((0..<count).contains(distribution.write(using: &generator)))
        }
    }
}
