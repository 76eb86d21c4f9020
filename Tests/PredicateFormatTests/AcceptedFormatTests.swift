import PredicateFormat
import RecordModel
import Testing

/// What Apple documents and published code uses; each with what it asks.
private let operators: [Accepted] = [
    Accepted("a == 1", means: compare("a", .equals, .int64(1))),
    Accepted("a = 1", means: compare("a", .equals, .int64(1))),
    Accepted("a != 1", means: compare("a", .notEquals, .int64(1))),
    Accepted("a <> 1", means: compare("a", .notEquals, .int64(1))),
    Accepted("a < 1", means: compare("a", .lessThan, .int64(1))),
    Accepted("a <= 1", means: compare("a", .lessThanOrEquals, .int64(1))),
    Accepted("a =< 1", means: compare("a", .lessThanOrEquals, .int64(1))),
    Accepted("a > 1", means: compare("a", .greaterThan, .int64(1))),
    Accepted("a >= 1", means: compare("a", .greaterThanOrEquals, .int64(1))),
    Accepted("a => 1", means: compare("a", .greaterThanOrEquals, .int64(1))),
    Accepted("a=-1", means: compare("a", .equals, .int64(-1))),
    Accepted(
        "a BETWEEN {1, 5}",
        means: .and([
            compare("a", .greaterThanOrEquals, .int64(1)), compare("a", .lessThanOrEquals, .int64(5)),
        ])
    ),
    Accepted(
        "a between %@",
        .timestampList([1, 2]),
        means: .and([
            compare("a", .greaterThanOrEquals, .timestamp(1)), compare("a", .lessThanOrEquals, .timestamp(2)),
        ])
    ),
    Accepted("a IN {'x', 'y'}", means: compare("a", .in, .stringList(["x", "y"]))),
    Accepted("a in %@", .stringList(["x"]), means: compare("a", .in, .stringList(["x"]))),
    Accepted("a IN {}", means: compare("a", .in, .emptyList)),
    Accepted("a IN {1, 2.5}", means: compare("a", .in, .doubleList([1, 2.5]))),
    Accepted("ANY {'x', 'y'} = a", means: compare("a", .in, .stringList(["x", "y"]))),
    Accepted("SOME %@ == a", .int64List([1, 2]), means: compare("a", .in, .int64List([1, 2]))),
    Accepted("ANY a IN {1, 2}", means: compare("a", .listContainsAny, .int64List([1, 2]))),
    Accepted("SOME a IN %@", .stringList(["x"]), means: compare("a", .listContainsAny, .stringList(["x"]))),
    Accepted("a CONTAINS 'x'", means: compare("a", .listContains, .string("x"))),
    Accepted("%K CONTAINS %@", .string("a"), .string("x"), means: compare("a", .listContains, .string("x"))),
    Accepted("ANY a = 'x'", means: compare("a", .listContains, .string("x"))),
    Accepted("ANY a CONTAINS 'x'", means: compare("a", .listContains, .string("x"))),
    Accepted("'x' IN a", means: compare("a", .listContains, .string("x"))),
    Accepted("%@ IN a", reference("r"), means: compare("a", .listContains, reference("r"))),
    Accepted("a BEGINSWITH 's'", means: compare("a", .beginsWith, .string("s"))),
    Accepted("ANY a beginswith 's'", means: compare("a", .listMemberBeginsWith, .string("s"))),
    Accepted("TRUEPREDICATE", means: .all),
    Accepted("falsepredicate", means: .nothing),
]

private let searches: [Accepted] = [
    Accepted(
        "self contains 'bob smith'",
        means: compare("___allText", .containsAnyTokens, .string("bob smith"))
    ),
    Accepted(
        "self contains 'bob' AND self contains 'smith'",
        means: .and([
            compare("___allText", .containsAnyTokens, .string("bob")),
            compare("___allText", .containsAnyTokens, .string("smith")),
        ])
    ),
    Accepted(
        "allTokens TOKENMATCHES[cdl] %@",
        .string("grill"),
        means: compare("___allText", .containsAnyTokens, .string("grill"))
    ),
    Accepted(
        "title TOKENMATCHES[cdl] 'grill'",
        means: compare("title", .containsAnyTokens, .string("grill"))
    ),
    Accepted(
        "ALL tokenize(%@, 'Cdl') IN allTokens",
        .string("bob smith"),
        means: compare("___allText", .containsAllTokens, .string("bob smith"))
    ),
    Accepted(
        "ANY tokenize:using:(%@, 'Cdl') IN allTokens",
        .string("bob smith"),
        means: compare("___allText", .containsAnyTokens, .string("bob smith"))
    ),
    Accepted(
        "distanceToLocation:fromLocation:(location, %@) < %f",
        .location(place),
        .double(300.5),
        means: near("location", place, metres: 300.5)
    ),
    Accepted(
        "distanceToLocation:fromLocation:(%K,%@) < %f",
        .string("location"),
        .location(place),
        .int64(10),
        means: near("location", place, metres: 10)
    ),
    Accepted(
        "distanceToLocation:fromLocation:(posicion, %@) < 300 and conectado == %@ and email != %@",
        .location(place),
        .int64(1),
        .string("e"),
        means: .and([
            near("posicion", place, metres: 300), compare("conectado", .equals, .int64(1)),
            compare("email", .notEquals, .string("e")),
        ])
    ),
    Accepted("due < now()", means: compare("due", .lessThan, .timestamp(now))),
    Accepted("due > CAST(12.5, \"NSDate\")", means: compare("due", .greaterThan, .timestamp(12.5))),
]

private let compounds: [Accepted] = [
    Accepted(
        "(state == %d) AND (dueAt < %@)",
        .int64(1),
        .timestamp(5),
        means: .and([compare("state", .equals, .int64(1)), compare("dueAt", .lessThan, .timestamp(5))])
    ),
    Accepted(
        "a = 1 && (b = 2 and c = 3)",
        means: .and([
            compare("a", .equals, .int64(1)), compare("b", .equals, .int64(2)),
            compare("c", .equals, .int64(3)),
        ])
    ),
    Accepted(
        "a = 1 OR b = 2 AND NOT c = 3 || d = 4",
        means: .or([
            compare("a", .equals, .int64(1)),
            .and([compare("b", .equals, .int64(2)), compare("c", .notEquals, .int64(3))]),
            compare("d", .equals, .int64(4)),
        ])
    ),
    Accepted(
        "(a = 1 OR b = 2) AND c = 3",
        means: .and([
            .or([compare("a", .equals, .int64(1)), compare("b", .equals, .int64(2))]),
            compare("c", .equals, .int64(3)),
        ])
    ),
    Accepted("NOT a = 1", means: compare("a", .notEquals, .int64(1))),
    Accepted("!(a != 1)", means: compare("a", .equals, .int64(1))),
    Accepted("NOT a < 1", means: compare("a", .greaterThanOrEquals, .int64(1))),
    Accepted("NOT a <= 1", means: compare("a", .greaterThan, .int64(1))),
    Accepted("NOT a > 1", means: compare("a", .lessThanOrEquals, .int64(1))),
    Accepted("NOT a >= 1", means: compare("a", .lessThan, .int64(1))),
    Accepted("NOT a BEGINSWITH 's'", means: compare("a", .notBeginsWith, .string("s"))),
    Accepted("NOT a CONTAINS 's'", means: compare("a", .listNotContains, .string("s"))),
    Accepted("NOT ANY a IN {'s'}", means: compare("a", .listNotContainsAny, .stringList(["s"]))),
    Accepted("NOT (ANY a BEGINSWITH 's')", means: compare("a", .notListMemberBeginsWith, .string("s"))),
    Accepted("NOT NOT a = 1", means: compare("a", .equals, .int64(1))),
    Accepted("NOT TRUEPREDICATE", means: .nothing),
    Accepted(
        "NOT (recordID IN %@) AND Status == 1",
        .referenceList([Reference(recordName: "r", action: .none)]),
        means: .and([
            compare("___recordID", .notIn, .referenceList([Reference(recordName: "r", action: .none)])),
            compare("Status", .equals, .int64(1)),
        ])
    ),
]

private let keys: [Accepted] = [
    Accepted("recordID == %@", reference("r"), means: compare("___recordID", .equals, reference("r"))),
    Accepted("___recordID == %@", .string("r"), means: compare("___recordID", .equals, reference("r"))),
    Accepted(
        "recordID IN {'r', 's'}",
        means: compare(
            "___recordID",
            .in,
            .referenceList([
                Reference(recordName: "r", action: .none), Reference(recordName: "s", action: .none),
            ])
        )
    ),
    Accepted(
        "creationDate > %@",
        .timestamp(1),
        means: compare("___createTime", .greaterThan, .timestamp(1))
    ),
    Accepted(
        "___createTime > %@",
        .timestamp(1),
        means: compare("___createTime", .greaterThan, .timestamp(1))
    ),
    Accepted(
        "modificationDate > %@",
        .timestamp(1),
        means: compare("___modTime", .greaterThan, .timestamp(1))
    ),
    Accepted(
        "creatorUserRecordID = %@",
        reference("u"),
        means: compare("___createdBy", .equals, reference("u"))
    ),
    Accepted("___createdBy == %@", reference("u"), means: compare("___createdBy", .equals, reference("u"))),
    Accepted(
        "lastModifiedUserRecordID != %@",
        reference("u"),
        means: compare("___modifiedBy", .notEquals, reference("u"))
    ),
    Accepted("parent == %@", reference("p"), means: compare("___parent", .equals, reference("p"))),
    Accepted("#in == 1", means: compare("in", .equals, .int64(1))),
    Accepted("%K = 0", .string("size"), means: compare("size", .equals, .int64(0))),
    Accepted(
        "size = 0 and first = 1",
        means: .and([
            compare("size", .equals, .int64(0)), compare("first", .equals, .int64(1)),
        ])
    ),
]

private let values: [Accepted] = [
    Accepted("isAccount = \"1\"", means: compare("isAccount", .equals, .string("1"))),
    Accepted("x != '###PINNED###'", means: compare("x", .notEquals, .string("###PINNED###"))),
    Accepted(#"x == "a\"b\\c\n\u00e9""#, means: compare("x", .equals, .string("a\"b\\c\né"))),
    Accepted("x == 'it\\'s %@'", means: compare("x", .equals, .string("it's %@"))),
    Accepted(
        "x == YES && y == no",
        means: .and([
            compare("x", .equals, .int64(1)), compare("y", .equals, .int64(0)),
        ])
    ),
    Accepted("x == True", means: compare("x", .equals, .int64(1))),
    Accepted("x == 0xFF", means: compare("x", .equals, .int64(255))),
    Accepted("x == 0b101", means: compare("x", .equals, .int64(5))),
    Accepted("x == 1.5e3", means: compare("x", .equals, .double(1500))),
    Accepted("x == .5", means: compare("x", .equals, .double(0.5))),
    Accepted("x == -9223372036854775808", means: compare("x", .equals, .int64(.min))),
    Accepted("x == 9223372036854775807", means: compare("x", .equals, .int64(.max))),
    Accepted("x == %ld", .int64(5), means: compare("x", .equals, .int64(5))),
    Accepted("x == %lu", .int64(5), means: compare("x", .equals, .int64(5))),
    Accepted("x == %i", .int64(5), means: compare("x", .equals, .int64(5))),
    Accepted("x == %lld", .int64(5), means: compare("x", .equals, .int64(5))),
    Accepted("x >= %f", .double(5.5), means: compare("x", .greaterThanOrEquals, .double(5.5))),
    Accepted("x == %@", .bytes([1]), means: compare("x", .equals, .bytes([1]))),
    Accepted("x == %@", .location(place), means: compare("x", .equals, .location(place))),
]

struct `A format that queries accept` {
    @Test(arguments: operators + searches + compounds + keys + values)
    func `asks what it says`(_ accepted: Accepted) throws {
        #expect(try predicate(accepted.format, accepted.arguments) == accepted.predicate)
    }

    @Test(arguments: operators + searches + compounds + keys + values)
    func `asks the same when it was kept and read again`(_ accepted: Accepted) throws {
        let arguments = accepted.arguments.map { ExpressionSyntax($0) }
        let syntax = try PredicateSyntax(format: accepted.format, arguments: arguments)
        let template = try #require(PredicateTemplate(syntax))
        let again = try PredicateSyntax(template)
        #expect(try Predicate(again, nowSeconds: now) == accepted.predicate)
    }
}
