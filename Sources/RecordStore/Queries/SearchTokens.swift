@_spi(_Unicode) import Swift

/// The words of a text, as full text compares them.
///
/// A text is split at whitespace, punctuation and signs such as `+` and `€`. Case and diacritics
/// are folded: `Größe` and `GROßE` are one word; `ß` and `ø` are letters of their own. Words that
/// are written without spaces, as in Chinese, are not separated.
package enum SearchTokens {
    /// A longer word is cut, both in the text and in the search.
    package static let tokenBytesMax = 255
    /// Bound on the words of a record that are found.
    ///
    /// Further ones are ignored.
    package static let tokensMax = 10_000

    /// Words that a search ignores, because almost every English text has them.
    package static let stopWords: Set<String> = [
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
        "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this",
        "to", "was", "will", "with",
    ]

    /// The distinct words of a search, in order, without stop words.
    ///
    /// Empty for a search of stop words only.
    package static func tokens(ofSearch search: String) -> [[UInt8]] {
        var known: Set<[UInt8]> = []
        var tokens: [[UInt8]] = []
        self.forEachToken(in: ArraySlice(search.utf8)) { token in
            let isWanted = !self.stopWords.contains(String(decoding: token, as: UTF8.self))
            if isWanted, known.insert(token).inserted { tokens.append(token) }
            return true
        }
        return tokens
    }

    /// Adds the words of a UTF-8 text until there are `tokensMax`.
    package static func add(_ text: ArraySlice<UInt8>, to tokens: inout Set<[UInt8]>) {
        self.forEachToken(in: text) { token in
            guard tokens.count < self.tokensMax else { return false }
            tokens.insert(token)
            return true
        }
    }

    /// Calls `take` with each word until it returns `false`.
    ///
    /// Runs of ASCII, which are most of most texts, are folded byte by byte.
    private static func forEachToken(in text: ArraySlice<UInt8>, _ take: ([UInt8]) -> Bool) {
        var token: [UInt8] = []
        func isGoingOn() -> Bool {
            guard !token.isEmpty else { return true }
            defer { token.removeAll() }
            return take(self.cut(token))
        }
        var position = text.startIndex
        while position < text.endIndex {
            if self.isPlain(text, position) {
                let folded = self.ascii[Int(text[position])]
                if folded != 0 { token.append(folded) } else if !isGoingOn() { return }
                position += 1
                continue
            }
            // Up to the next ASCII byte before another one, so that combining characters stay with
            // theirs.
            let start = position
            while position < text.endIndex, !self.isPlain(text, position) { position += 1 }
            for scalar in String(decoding: text[start..<position], as: UTF8.self)._nfd {
                guard self.fold(scalar, into: &token) || isGoingOn() else { return }
            }
        }
        _ = isGoingOn()
    }

    /// Whether the byte is ASCII and no combining character follows.
    private static func isPlain(_ text: ArraySlice<UInt8>, _ position: Int) -> Bool {
        text[position] < 0x80 && (position + 1 == text.endIndex || text[position + 1] < 0x80)
    }

    /// Returns `false` if the scalar separates words.
    private static func fold(_ scalar: Unicode.Scalar, into token: inout [UInt8]) -> Bool {
        if scalar.isASCII {
            let folded = self.ascii[Int(scalar.value)]
            if folded != 0 { token.append(folded) }
            return folded != 0
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return true
        case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .connectorPunctuation,
            .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation, .finalPunctuation,
            .otherPunctuation, .mathSymbol, .currencySymbol, .modifierSymbol:
            return false
        default:
            // A final sigma is the same letter.
            let folded = scalar == "\u{3C2}" ? "\u{3C3}" : scalar.properties.lowercaseMapping
            for scalar in folded.unicodeScalars where scalar.properties.generalCategory != .nonspacingMark {
                token += UTF8.encode(scalar)!
            }
            return true
        }
    }

    /// The first bytes of a word, in whole scalars.
    private static func cut(_ token: [UInt8]) -> [UInt8] {
        guard token.count > self.tokenBytesMax else { return token }
        var count = self.tokenBytesMax
        while token[count] & 0xC0 == 0x80 { count -= 1 }
        return Array(token[..<count])
    }

    /// Letters in lower case and digits; 0 for bytes that separate words.
    private static let ascii: [UInt8] = (0..<128).map { byte in
        let scalar = Unicode.Scalar(UInt8(byte))
        switch scalar {
        case "A"..."Z": return UInt8(byte) | 0x20
        case "a"..."z", "0"..."9": return UInt8(byte)
        default: return 0
        }
    }
}
