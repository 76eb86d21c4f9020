import Foundation
import Testing

@testable import tidemark_load

@Suite
struct MixTests {
    @Test
    func `a file of weights is read`() throws {
        let mix = try Mix(text: "# a comment\nfetch 30\n\n  save-batch\t1   # and another\nsync 0\n")
        #expect(mix.weights == [.fetch: 30, .saveBatch: 1])
        #expect(mix.has(.fetch))
        #expect(!mix.has(.sync))
    }

    @Test(arguments: [
        "", "fetch", "fetch 0", "fetch -1", "fetch 1 2", "fetch 1\nfetch 2", "fech 1", "save many",
    ])
    func `an invalid mix is refused`(text: String) {
        #expect(throws: Mix.Malformed.self) { try Mix(text: text) }
    }

    @Test
    func `steps come as often as they weigh`() throws {
        let mix = try Mix(text: "fetch 70\nsave 20\nquery 10")
        var generator = SplitMix64(seed: 1)
        var counts: [Step: Int] = [:]
        for _ in 0..<100_000 { counts[mix.step(using: &generator), default: 0] += 1 }
        #expect(Set(counts.keys) == [.fetch, .save, .query])
        #expect(abs((counts[.fetch] ?? 0) - 70_000) < 1_000)
        #expect(abs((counts[.save] ?? 0) - 20_000) < 1_000)
        #expect(abs((counts[.query] ?? 0) - 10_000) < 1_000)
    }

    @Test
    func `a mix is written as its weights`() throws {
        let mix = try Mix(text: "fetch 3\nsave-batch 1")
        let data = try JSONEncoder().encode(mix)
        #expect(try JSONDecoder().decode([String: Int].self, from: data) == ["fetch": 3, "save-batch": 1])
        #expect(try JSONDecoder().decode(Mix.self, from: data) == mix)
    }
}
