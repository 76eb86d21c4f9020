import Testing

@testable import tidemark_load

@Suite
struct RampTests {
    /// Tries rates against a server that holds up to one.
    private static func search(from first: Double, holdsUpTo limit: Double) -> (RampSearch, tried: [Double]) {
        var search = RampSearch(from: first)
        var tried: [Double] = []
        while let rate = search.rate {
            tried.append(rate)
            search.tried(rate, held: rate <= limit)
        }
        return (search, tried)
    }

    @Test(arguments: [120.0, 1_000, 3_333, 98_765])
    func `the highest rate is found within a twentieth`(limit: Double) throws {
        let (search, tried) = Self.search(from: 100, holdsUpTo: limit)
        let highest = try #require(search.highestHeld)
        #expect(highest <= limit)
        #expect(highest >= limit / 1.05)
        #expect(tried.count < 30)
        #expect(tried[0] == 100)
    }

    @Test
    func `the search goes down from a first rate that is too high`() throws {
        let (search, _) = Self.search(from: 1_000, holdsUpTo: 130)
        let highest = try #require(search.highestHeld)
        #expect(highest <= 130 && highest >= 130 / 1.05)
    }

    @Test
    func `a server that holds nothing ends the search`() {
        let (search, tried) = Self.search(from: 1_000, holdsUpTo: 0)
        #expect(search.highestHeld == nil)
        #expect(tried.count < 20)
        #expect((tried.last ?? 0) < 10)
    }

    @Test
    func `a server that holds everything ends the search, too`() {
        let (search, tried) = Self.search(from: 1, holdsUpTo: .infinity)
        #expect(tried.count == 40)
        #expect(search.highestHeld == tried.last)
    }
}
