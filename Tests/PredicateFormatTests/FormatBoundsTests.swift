import PredicateFormat
import RecordModel
import TestSupport
import Testing

private func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

/// A comparison is one.
private func levels(_ predicate: Predicate) -> Int {
    switch predicate {
    case .all, .nothing, .comparison: 1
    case .and(let parts), .or(let parts): 1 + (parts.map { levels($0) }.max() ?? 0)
    }
}

struct `The bounds of a format` {
    @Test func `are 400 comparisons`() throws {
        let most = Array(repeating: "a = 1", count: Bounds.comparisonsMax).joined(separator: " AND ")
        guard case .and(let parts) = try predicate(most) else { return #expect(Bool(false)) }
        #expect(parts.count == Bounds.comparisonsMax)
        #expect(refusal(most + " AND a = 1")?.contains("more than 400 comparisons") == true)
        #expect(refusal(most + " AND TRUEPREDICATE")?.contains("more than 400 comparisons") == true)
    }

    @Test func `are 400 comparisons where BETWEEN counts as two`() {
        let most = Array(repeating: "a BETWEEN {1, 2}", count: Bounds.comparisonsMax / 2)
        #expect(refusal(most.joined(separator: " AND ")) == nil)
        let text = refusal((most + ["a = 1"]).joined(separator: " OR "))
        #expect(text?.contains("more than 400 comparisons") == true)
    }

    @Test func `are 10000 elements of lists`() {
        let most = FieldValue.int64List(Array(0..<Int64(Bounds.operandElementsMax)))
        #expect(refusal("a IN %@", [most]) == nil)
        #expect(refusal("a IN %@ AND b IN {}", [most]) == nil)
        #expect(refusal("a IN %@ AND b IN {1}", [most])?.contains("more than 10000 elements") == true)
        let more = FieldValue.int64List(Array(0...Int64(Bounds.operandElementsMax)))
        #expect(refusal("a IN %@", [more])?.contains("more than 10000 elements") == true)
        let literal = repeated("1,", Bounds.operandElementsMax - 1)
        #expect(refusal("a IN {\(literal)1}") == nil)
        #expect(refusal("a IN {\(literal)1, 1}")?.contains("more than 10000 elements") == true)
    }

    @Test func `are 100000 values in a list`() {
        let text = refusal("a IN %@", [.stringList(Array(repeating: "x", count: 100_000))])
        #expect(text?.contains("more than 10000 elements") == true)
    }

    @Test func `are 32 levels of what it asks`() throws {
        func nested(_ levels: Int) -> String {
            (1..<levels).reduce("a = 0") { inner, level in "b = 1 \(level % 2 == 0 ? "AND" : "OR") (\(inner))"
            }
        }
        #expect(try levels(predicate(nested(Bounds.predicateDepthMax))) == Bounds.predicateDepthMax)
        #expect(refusal(nested(Bounds.predicateDepthMax + 1))?.contains("more than 32 levels") == true)
    }

    @Test(arguments: [("(", ")"), ("NOT ", ""), ("!(", ")")])
    func `are 64 levels of what it says`(_ opening: String, _ closing: String) {
        let levels = PredicateSyntax.nestingMax / opening.utf8.count { $0 != UInt8(ascii: " ") }
        let most = opening.hasPrefix("NOT") ? PredicateSyntax.nestingMax : levels
        #expect(refusal(repeated(opening, most) + "a = 1" + repeated(closing, most)) == nil)
        let text = refusal(repeated(opening, most + 1) + "a = 1" + repeated(closing, most + 1))
        #expect(text?.contains("more than 64 levels") == true)
    }

    @Test(arguments: [
        "(", "{", "!", "-", "NOT ", "ANY ", "a(", "a[", "f:(", "a = {", "a = (", "a + (", "a OR !(",
    ])
    func `hold however deep it is nested`(_ opening: String) {
        #expect(refusal(repeated(opening, 10_000))?.hasPrefix("Unable to parse") == true)
        #expect(refusal(repeated(opening, 10_000) + "a = 1")?.hasPrefix("Unable to parse") == true)
    }

    @Test(arguments: [
        "a.", "1 + ", "1 ** ", "a[0]", "a OR ", "TRUEPREDICATE OR ", "a = 1 OR ", "{1},", "$x.", "%@ ",
    ])
    func `hold however long its chains are`(_ link: String) {
        let count = PredicateSyntax.formatBytesMax / link.utf8.count - 10
        #expect(refusal("a = " + repeated(link, count))?.hasPrefix("Unable to parse") == true)
        #expect(refusal(repeated(link, count) + "a = 1")?.hasPrefix("Unable to parse") == true)
    }

    @Test func `are 256 KiB of text`() {
        let most = PredicateSyntax.formatBytesMax - "a = ''".utf8.count
        #expect(refusal("a = '\(repeated("x", most))'") == nil)
        #expect(refusal("a = '\(repeated("x", most + 1))'")?.contains("more than 262144 bytes") == true)
        #expect(refusal(repeated("x", 1 << 20))?.contains("more than 262144 bytes") == true)
    }
}

struct `Garbage` {
    private static let pieces = [
        "a", "b.c", "#in", "SELF", "%@", "%K", "%d", "%f", "$x", "@count", "'s'", "\"t\"", "'", "\\", "1",
        "-1", "0x1F", "1.5",
        ".5", "1e", "(", ")", "{", "}", "[", "]", "[cd]", ",", ".", "&&", "||", "!", "=", "==", "!=", "<>",
        "<", "=<", ">", "+",
        "-", "*", "**", "/", ":", "AND", "or", "NOT", "ANY", "ALL", "NONE", "BETWEEN", "IN", "CONTAINS",
        "BEGINSWITH", "LIKE",
        "TOKENMATCHES", "TRUE", "nil", "TRUEPREDICATE", "now()", "f(", "distanceToLocation:fromLocation:(",
        "tokenize(",
        "CAST(", "SUBQUERY(", "\u{0}", "é", "👩‍👩‍👧", "\u{FEFF}", " ",
    ]
    private static let arguments: [FieldValue] = [
        .string("a"), .int64(1), .double(2.5), .timestamp(3), .stringList(["x"]), .location(place),
        .bytes([0]),
        reference("r"), .emptyList, .doubleList([1]),
    ]

    @Test func `is refused or asks the same when kept, but never ends the program`() throws {
        var generator = SeededGenerator.fromEnvironment()
        var accepted = 0
        for _ in 0..<60_000 {
            let length = Int.random(in: 1...14, using: &generator)
            let format = (0..<length).map { _ in Self.pieces.randomElement(using: &generator) ?? "" }
                .joined(separator: Bool.random(using: &generator) ? " " : "")
            let arguments = Self.arguments.shuffled(using: &generator).map { ExpressionSyntax($0) }
            guard let syntax = try? PredicateSyntax(format: format, arguments: arguments) else { continue }
            accepted += 1
            let again = try PredicateTemplate(syntax).map { try PredicateSyntax($0) }
            let meaning = try? Predicate(syntax, nowSeconds: now)
            let meaningAgain = again.flatMap { try? Predicate($0, nowSeconds: now) }
            #expect(meaning == meaningAgain, "SEED=\(generator.seed) \(format)")
        }
        #expect(accepted > 100, "SEED=\(generator.seed)")
    }

    @Test func `of bytes is refused`() {
        var generator = SeededGenerator.fromEnvironment()
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            _ = refusal(String(decoding: bytes, as: UTF8.self), [.string("a"), .int64(1)])
        }
    }
}
