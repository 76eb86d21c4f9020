import RecordStore
import Testing

/// Full text keeps tokens on disk, and tokens rest on the canonical decomposition of the standard
/// library, which is not public API.
///
/// A toolchain that decomposes, classifies or lower-cases a character differently would no longer find
/// what an earlier one stored. This test then fails, and a migration has to make the entries anew.
@Suite
struct SearchTokensGoldenTests {
    /// Of Unicode 15: a later version adds characters, and changes none of these.
    private static let age: Unicode.Version = (major: 15, minor: 0)

    /// FNV-1a over the tokens of every assigned character alone, and behind a letter.
    @Test
    func `every character has the tokens that are stored`() {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ bytes: some Sequence<UInt8>) {
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        var count = 0
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age <= Self.age else {
                continue
            }
            count += 1
            for text in [String(scalar), "e" + String(scalar) + "o"] {
                var tokens: Set<[UInt8]> = []
                SearchTokens.add(ArraySlice(text.utf8), to: &tokens)
                for token in tokens.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                    add(token)
                    add([0])
                }
                add([1])
            }
        }
        #expect(count == 286_785)
        #expect(hash == 17_575_717_952_548_260_507)
    }

    @Test(arguments: [
        ("Größe", "große"), ("ΣΊΣΥΦΟΣ", "σισυφοσ"), ("Ångström", "angstrom"), ("İstanbul", "istanbul"),
        ("한국어", "한국어"), ("ﬁn", "ﬁn"), ("Việt", "viet"), ("ЁЖ", "еж"),
    ])
    func `a word is stored as it always was`(word: String, token: String) {
        #expect(SearchTokens.tokens(ofSearch: word) == [Array(token.decomposedForTest.utf8)])
    }
}

extension String {
    /// Hangul is stored in conjoining letters; the expectation is written composed.
    fileprivate var decomposedForTest: String {
        String(
            String.UnicodeScalarView(
                self.unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
                    guard (0xAC00...0xD7A3).contains(scalar.value) else { return [scalar] }
                    let index = scalar.value - 0xAC00
                    var letters = [0x1100 + index / 588, 0x1161 + index % 588 / 28]
                    if index % 28 > 0 { letters.append(0x11A7 + index % 28) }
                    return letters.compactMap(Unicode.Scalar.init)
                }
            )
        )
    }
}
