import PredicateFormat
import RecordModel
import Testing

private let printed: [(String, [FieldValue], String)] = [
    ("a=1", [], "a == 1"),
    ("a <> 'x'", [], "a != \"x\""),
    ("a =< 1 and b => 2", [], "a <= 1 AND b >= 2"),
    ("a = 1 || b = 2 && c = 3", [], "a == 1 OR (b == 2 AND c == 3)"),
    ("(a = 1 || b = 2) && c = 3", [], "(a == 1 OR b == 2) AND c == 3"),
    ("!(a = 1)", [], "NOT a == 1"),
    ("!(a = 1 and b = 1)", [], "NOT (a == 1 AND b == 1)"),
    ("some a in {1, 'x'}", [], "ANY a IN {1, \"x\"}"),
    ("a contains[CD] 'x'", [], "a CONTAINS[cd] \"x\""),
    ("a == yes and b == NULL", [], "a == 1 AND b == nil"),
    ("a == \"q\\\"\\\\\"", [], "a == \"q\\\"\\\\\""),
    ("a == 1.0 or a == 2.50 or a == 1e300", [], "a == 1 OR a == 2.5 OR a == 1e+300"),
    ("a > %@", [.timestamp(725_846_400)], "a > CAST(725846400.000000, \"NSDate\")"),
    ("a > %@", [.timestamp(0.125)], "a > CAST(0.125000, \"NSDate\")"),
    ("a > %@", [.timestamp(-0.5)], "a > CAST(-0.500000, \"NSDate\")"),
    ("a IN %@", [.stringList(["x", "y"])], "a IN {\"x\", \"y\"}"),
    ("a == %@", [.bytes([1, 255])], "a == <01ff>"),
    ("a == %@", [reference("r")], "a == <CKReference: r>"),
    ("%K == 1", [.string("in")], "#in == 1"),
    ("self CONTAINS 'x'", [], "SELF CONTAINS \"x\""),
    ("a < now()", [], "a < now()"),
    ("truepredicate", [], "TRUEPREDICATE"),
]

struct `A predicate` {
    @Test(arguments: printed)
    func `is printed as Foundation prints it`(
        _ format: String,
        _ arguments: [FieldValue],
        _ text: String
    ) throws {
        let syntax = try PredicateSyntax(format: format, arguments: arguments.map { ExpressionSyntax($0) })
        #expect(syntax.printed == text)
    }

    @Test(arguments: [
        "a == 1 AND (b == 2 OR NOT c < 2.5)", "ANY a.b IN {\"x\", \"y\"}",
        "a LIKE[cd] \"x\\n\" AND #in == nil",
        "SUBQUERY(a, $x, $x.b == 1) == 2", "(a + 1) * -2 > negate:(b)", "a > CAST(12.500000, \"NSDate\")",
        "NOT (NOT a == 1 AND ALL tokenize(\"x\", \"Cdl\") IN allTokens)",
    ])
    func `that is printed and read again is the same`(_ format: String) throws {
        let syntax = try PredicateSyntax(format: format)
        #expect(try PredicateSyntax(format: syntax.printed) == syntax)
    }

    @Test func `with a constant that no field can hold is not kept, and says why`() throws {
        let unusable = ExpressionSyntax.constant(.unusable("a URL can't be the value of a field"))
        let syntax = try PredicateSyntax(format: "a == %@", arguments: [unusable])
        #expect(PredicateTemplate(syntax) == nil)
        #expect(throws: PredicateFailure.self) { try Predicate(syntax, nowSeconds: now) }
    }
}
