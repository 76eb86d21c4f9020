import PredicateFormat
import RecordModel
import Testing

private let unsupported: [Rejected] = [
    Rejected("ALL a = 1", because: "Invalid predicate: ALL a == 1 (the modifier ALL is not supported)"),
    Rejected("NONE a = 1", because: "Invalid predicate: NONE a == 1 (the modifier NONE is not supported)"),
    Rejected("a ENDSWITH 'x'", because: "Invalid predicate: a ENDSWITH \"x\" (the operator ENDSWITH is not"),
    Rejected("a LIKE 'x*'", because: "the operator LIKE is not supported"),
    Rejected("a MATCHES '.*'", because: "the operator MATCHES is not supported"),
    Rejected(
        "displayName CONTAINS[cd] %@",
        .string("x"),
        because:
            "Invalid predicate: displayName CONTAINS[cd] \"x\" (the modifiers [cd] of an operator are not"
    ),
    Rejected("a ==[c] 'x'", because: "the modifiers [c]"),
    Rejected("a BEGINSWITH[d] 'x'", because: "the modifiers [d]"),
    Rejected("SELF CONTAINS[c] 'x'", because: "the modifiers [c]"),
    Rejected("SUBQUERY(a, $x, $x.b == 1).@count > 0", because: "unexpected '.'"),
    Rejected("SUBQUERY(a, $x, $x.b == 1) == 1", because: "<SUBQUERY(a, $x, $x.b == 1)> is not an evaluated"),
    Rejected("a.@count != 0", because: "key paths are not supported: 'a.@count'"),
    Rejected("a + 1 == 2", because: "<a + 1> is not an evaluated object expression"),
    Rejected("a == 1 + 1", because: "<1 + 1> is not a constant value"),
    Rejected("a == -b", because: "is not a constant value"),
    Rejected("TERNARY(a == 1, 2, 3) == 2", because: "is not an evaluated object expression"),
    Rejected("a[0] == 1", because: "is not an evaluated object expression"),
    Rejected("recordID.recordName IN %@", .stringList(["r"]), because: "key paths are not supported"),
    Rejected("SELF.a == 1", because: "key paths are not supported: 'SELF.a'"),
    Rejected("%K == 1", .string("a.b"), because: "key paths are not supported: 'a.b'"),
    Rejected("%K == 1", .string("a b"), because: "'a b' is not the name of a field"),
    Rejected("___unknown == 1", because: "'___unknown' is not the name of a field"),
    Rejected("___allText == 'a'", because: "is not the name of a field"),
    Rejected("share == %@", reference("s"), because: "'share' can't be queried"),
    Rejected(
        "1 == a",
        because: "(Invalid left expression in <1 == a>: <1> is not an evaluated object expression)"
    ),
    Rejected("'x' CONTAINS a", because: "Invalid left expression"),
    Rejected("SELF == %@", reference("s"), because: "Invalid left expression"),
    Rejected("a == b", because: "Invalid right expression in <a == b>: <b> is not a constant value"),
    Rejected("a == SELF", because: "<SELF> is not a constant value"),
    Rejected("a == $x", because: "<$x> is not a constant value"),
    Rejected("a == nil", because: "a comparison with nil is not supported"),
    Rejected("a != NULL", because: "a comparison with nil is not supported"),
    Rejected("a IN {'x', nil}", because: "a comparison with nil is not supported"),
    Rejected("a == {1, 2}", because: "a list may stand only behind IN and BETWEEN"),
    Rejected("a CONTAINS {1, 2}", because: "a list may stand only behind IN and BETWEEN"),
    Rejected("a IN 'x'", because: "<\"x\"> is not a list"),
    Rejected("a IN {1, 'x'}", because: "the elements of a list differ in type"),
    Rejected("a IN {9007199254740993, 0.5}", because: "the elements of a list differ in type"),
    Rejected("a IN {{1}, {2}}", because: "a list may stand only behind IN and BETWEEN"),
    Rejected("a BETWEEN {1}", because: "BETWEEN takes a list of two values"),
    Rejected("a BETWEEN {1, 2, 3}", because: "BETWEEN takes a list of two values"),
    Rejected("a BETWEEN 1", because: "BETWEEN takes a list of two values"),
    Rejected("a < %@", reference("r"), because: "references are equal or not"),
    Rejected("a BETWEEN {%@, %@}", reference("r"), reference("s"), because: "references are equal or not"),
    Rejected("a < %@", .location(place), because: "locations are equal or not"),
    Rejected("a BEGINSWITH 1", because: "BEGINSWITH takes a string"),
    Rejected("recordID BEGINSWITH 'r'", because: "BEGINSWITH is not supported of recordID"),
    Rejected("recordID CONTAINS 'r'", because: "recordID is not a list"),
    Rejected("ANY a != 1", because: "the operator != is not supported with ANY"),
    Rejected("ANY a < 1", because: "the operator < is not supported with ANY"),
    Rejected("ANY a BETWEEN {1, 2}", because: "the operator BETWEEN is not supported with ANY"),
    Rejected("NOT (a = 1 AND b = 2)", because: "NOT is supported over a single comparison only"),
    Rejected("NOT (a = 1 OR b = 2)", because: "NOT is supported over a single comparison only"),
    Rejected("NOT a BETWEEN {1, 2}", because: "NOT is supported over a single comparison only"),
    Rejected("NOT SELF CONTAINS 'x'", because: "NOT is not supported over a search for tokens or a distance"),
    Rejected("SELF CONTAINS 1", because: "a search for words takes a string"),
    Rejected(
        "allTokens TOKENMATCHES[cdl] %@",
        .stringList(["x"]),
        because: "a search for words takes a string"
    ),
    Rejected("tokenize('x', 'Cdl') IN allTokens", because: "tokenize takes ALL or ANY"),
    Rejected("ALL tokenize('x', 'Cdl') IN title", because: "tokenize takes the form"),
    Rejected("ALL tokenize('x') IN allTokens", because: "tokenize takes the form"),
    Rejected(
        "NOT distanceToLocation:fromLocation:(l, %@) < 5",
        .location(place),
        because: "NOT is not supported over a search for tokens or a distance"
    ),
    Rejected(
        "distanceToLocation:fromLocation:(l, %@) > 5",
        .location(place),
        because: "a distance may only be less than something"
    ),
    Rejected(
        "distanceToLocation:fromLocation:(%@, l) < 5",
        .location(place),
        because: "takes a key and a location"
    ),
    Rejected(
        "distanceToLocation:fromLocation:(l, %@) < 'x'",
        .location(place),
        because: "a distance is compared with a number of metres"
    ),
    Rejected(
        "distanceToLocation:fromLocation:(l, %@) < -1",
        .location(place),
        because: "a distance is not negative"
    ),
    Rejected(
        "5 > distanceToLocation:fromLocation:(l, %@)",
        .location(place),
        because: "Invalid left expression"
    ),
]

private let unparsable: [Rejected] = [
    Rejected("", because: "Unable to parse the format string \"\": unexpected end at 0"),
    Rejected("a", because: "expected an operator and not the end at 1"),
    Rejected("a ==", because: "unexpected end"),
    Rejected("a == 1 b", because: "unexpected 'b' at 7"),
    Rejected("a == 1 AND", because: "unexpected end"),
    Rejected("a == 'x", because: "a string without its end at 5"),
    Rejected("a == 'x\\", because: "a string without its end"),
    Rejected("a == '\\u12'", because: "a malformed character"),
    Rejected("(a == 1", because: "expected ')' and not the end"),
    Rejected("a == 1)", because: "unexpected ')'"),
    Rejected("a IN {1, 2", because: "expected '}' and not the end"),
    Rejected("a == b == c", because: "expected a value and not a predicate"),
    Rejected("a AND b == 1", because: "expected an operator"),
    Rejected("a CONTAIN 'x'", because: "expected an operator and not 'CONTAIN'"),
    Rejected("a ==[z] 1", because: "unknown modifiers"),
    Rejected("a ==[] 1", because: "unknown modifiers"),
    Rejected("a ==[cdlnwc] 1", because: "unknown modifiers"),
    Rejected("a == %@", because: "Insufficient arguments for conversion characters"),
    Rejected("a == %lud", .int64(1), because: "'%lud' stands for nothing"),
    Rejected("a == %%", because: "'%' stands for nothing"),
    Rejected("a == %d", .string("1"), because: "argument 1 does not fit '%d'"),
    Rejected("a == %d", .double(1.5), because: "argument 1 does not fit '%d'"),
    Rejected("%K == 1", .int64(1), because: "argument 1 does not fit '%K'"),
    Rejected("a == 9223372036854775808", because: "a number that is out of range"),
    Rejected("a == 99999999999999999999", because: "out of range"),
    Rejected("a == 1e999", because: "out of range"),
    Rejected("a == 5x", because: "a malformed number"),
    Rejected("a == 0x", because: "a malformed number"),
    Rejected("a & b", because: "unexpected '&'"),
    Rejected("a == ? ", because: "unexpected '?'"),
    Rejected("distanceToLocation:fromLocation:(a) < 1", because: "does not take 1 arguments"),
    Rejected("in == 1", because: "unexpected 'in'"),
]

struct `A format that queries reject` {
    @Test(arguments: unsupported + unparsable)
    func `is refused with a text that names what is wrong`(_ rejected: Rejected) throws {
        let text = try #require(refusal(rejected.format, rejected.arguments))
        #expect(text.contains(rejected.text))
    }

    @Test(arguments: unsupported)
    func `is refused for what it says, not for how`(_ rejected: Rejected) {
        guard rejected.text != "unexpected '.'" else { return }
        #expect(refusal(rejected.format, rejected.arguments)?.hasPrefix("Invalid predicate: ") == true)
    }

    @Test(arguments: unparsable)
    func `is refused for how it is written`(_ rejected: Rejected) {
        let text = refusal(rejected.format, rejected.arguments)
        #expect(text?.hasPrefix("Unable to parse the format string \"") == true)
    }

    @Test(arguments: [
        "a LIKE '#'", "'#' == a", "a == #", "#.b == 1", "# == 1 1", "a ## b", "a == 1 #", "f(#, '#') == g(#)",
        "%K == 1",
        "SUBQUERY(#, $x, a == '#') == 2", "a == $#", "#:(1, 2) == 1",
    ])
    func `is refused in a short text, however long it is`(_ format: String) throws {
        let long = String(repeating: "👩\u{301}", count: 3_000)
        let format = format.replacing("#", with: long)
        let text = try #require(refusal(format, [.string(long)]))
        #expect(text.utf8.count < Bounds.messageBytesMax)
    }
}
