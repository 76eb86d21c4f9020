import RecordStore
import Testing

/// The words of full text.
struct SearchTokensTests {
    private func words(_ text: String) -> Set<String> {
        var tokens: Set<[UInt8]> = []
        SearchTokens.add(ArraySlice(text.utf8), to: &tokens)
        return Set(tokens.map { String(decoding: $0, as: UTF8.self) })
    }

    @Test
    func `texts are split at whitespace and punctuation`() {
        #expect(self.words("") == [])
        #expect(self.words(" ,;\n\u{0}") == [])
        #expect(self.words("one") == ["one"])
        #expect(
            self.words("One, two:three\tfour(5)a_b c-d") == [
                "one", "two", "three", "four", "5", "a", "b", "c", "d",
            ]
        )
        #expect(self.words("1€=x+y «z»\u{2003}w\u{2014}v") == ["1", "x", "y", "z", "w", "v"])
    }

    @Test
    func `case and diacritics are folded, composed or not`() {
        #expect(self.words("Größe gro\u{308}ße GRÖßE") == self.words("große"))
        #expect(self.words("Éa e\u{301}a EA").count == 1)
        #expect(self.words("ὈΔΥΣΣΕΎΣ ὀδυσσεύς").count == 1)
        #expect(self.words("İ i").count == 1)
        #expect(self.words("naïve,crème\u{301} x") == ["naive", "creme", "x"])
        // The mark belongs to the last ASCII letter of a run.
        #expect(self.words("abce\u{301}") == ["abce"])
        #expect(self.words("한국 한국어").count == 2)
    }

    @Test
    func `a long word is cut between scalars`() {
        for count in [254, 255, 256] {
            #expect(self.words(String(repeating: "x", count: count)).first?.utf8.count == min(count, 255))
        }
        #expect(self.words(String(repeating: "ж", count: 200)).first?.utf8.count == 254)
    }

    @Test
    func `a record has at most 10,000 words`() {
        var tokens: Set<[UInt8]> = []
        SearchTokens.add(ArraySlice((0..<9_999).map { "w\($0)" }.joined(separator: " ").utf8), to: &tokens)
        SearchTokens.add(ArraySlice("a b c".utf8), to: &tokens)
        #expect(tokens.count == 10_000)
        #expect(tokens.contains(Array("a".utf8)))
    }

    @Test
    func `a search keeps its order and loses what is said twice and stop words`() {
        func search(_ text: String) -> [String] {
            SearchTokens.tokens(ofSearch: text).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(search("The Bob and THE Smith, bob") == ["bob", "smith"])
        #expect(search("the and of") == [])
        #expect(search("") == [])
    }
}
