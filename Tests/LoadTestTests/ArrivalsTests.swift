import Testing

@testable import tidemark_load

@Suite
struct ArrivalsTests {
    @Test
    func `uniform arrivals are at equal distances, and do not drift`() {
        var arrivals = Arrivals(.uniform, rate: 1_000, seed: 1)
        for number in 0..<100_000 {
            let time = arrivals.next()
            #expect(abs(time.seconds - Double(number) / 1_000) < 1e-9)
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `Poisson arrivals have the rate, and distances as long as chance makes them`(seed: UInt64) {
        var arrivals = Arrivals(.poisson, rate: 1_000, seed: seed)
        var last = Duration.zero
        var distances: [Double] = []
        for _ in 0..<100_000 {
            let time = arrivals.next()
            #expect(time >= last)
            distances.append((time - last).seconds)
            last = time
        }
        #expect(abs(last.seconds - 100) < 2)
        // Of an exponential distribution 1 - 1/e are shorter than the mean, and 1 - 1/e^3 shorter
        // than three times that.
        let shorter = distances.count { $0 < 0.001 }
        let three = distances.count { $0 < 0.003 }
        #expect(abs(Double(shorter) / 100_000 - 0.632) < 0.01)
        #expect(abs(Double(three) / 100_000 - 0.950) < 0.01)
    }

    @Test
    func `a seed repeats its arrivals`() {
        var first = Arrivals(.poisson, rate: 50, seed: 7)
        var second = Arrivals(.poisson, rate: 50, seed: 7)
        var other = Arrivals(.poisson, rate: 50, seed: 8)
        let times = (0..<100).map { _ in first.next() }
        #expect(times == (0..<100).map { _ in second.next() })
        #expect(times != (0..<100).map { _ in other.next() })
    }
}
