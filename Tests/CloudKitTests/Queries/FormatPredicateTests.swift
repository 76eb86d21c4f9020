import CloudKit
import Foundation
import RecordModel
import Testing

struct `A predicate with a format` {
    @Test func `is one of Foundation's, and says what it was given`() {
        let predicate = NSPredicate(format: "a = %@ && %K > %d", "x", "b", 3)
        #expect(predicate.description == "a == \"x\" AND b > 3")
        #expect(predicate == NSPredicate(format: "(a == 'x') AND (b > 3)"))
        #expect(predicate.hash == NSPredicate(format: "(a == 'x') AND (b > 3)").hash)
        #expect(predicate != NSPredicate(format: "a == 'x' OR b > 3"))
        #expect(predicate != NSPredicate(value: false))
        #expect(predicate.copy() as? NSPredicate === predicate)
        let implicit: NSPredicate = .init(format: "a == 1")
        #expect(implicit.description == "a == 1")
    }

    @Test func `that is malformed fails the query and is false of everything`() {
        let predicate = NSPredicate(format: "a CONTAIN 'x'")
        #expect(!predicate.evaluate(with: ["a": "x"]))
        #expect(!predicate.evaluate(with: nil))
        #expect(predicate.description == "a CONTAIN 'x'")
        #expect(refusal(predicate)?.hasPrefix("Unable to parse the format string \"a CONTAIN 'x'\"") == true)
    }

    @Test func `composes with Foundation's compounds and values`() throws {
        let one = NSPredicate(format: "a == 1")
        let two = NSPredicate(format: "b == 2")
        let all = compare("a", .equals, .int64(1))
        let both = [all, compare("b", .equals, .int64(2))]
        #expect(try asked(NSCompoundPredicate(andPredicateWithSubpredicates: [one, two])) == .and(both))
        #expect(try asked(NSCompoundPredicate(type: .and, subpredicates: [one, two])) == .and(both))
        #expect(try asked(NSCompoundPredicate(orPredicateWithSubpredicates: [one, two])) == .or(both))
        #expect(
            try asked(NSCompoundPredicate(notPredicateWithSubpredicate: one))
                == compare("a", .notEquals, .int64(1))
        )
        #expect(try asked(NSCompoundPredicate(andPredicateWithSubpredicates: [one])) == all)
        #expect(try asked(NSCompoundPredicate(andPredicateWithSubpredicates: [])) == .and([]))
        #expect(try asked(NSPredicate(value: true)) == .all)
        #expect(try asked(NSPredicate(value: false)) == .nothing)
        let nested = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(value: true), one])
        #expect(try asked(nested) == .and([.all, all]))
        let negated = NSCompoundPredicate(notPredicateWithSubpredicate: nested)
        #expect(refusal(negated)?.contains("NOT is supported over a single comparison only") == true)
    }

    @Test func `can't be a block`() {
        let block = NSPredicate { _, _ in true }
        let text = "Invalid predicate: BLOCKPREDICATE (block predicates are not supported)"
        #expect(refusal(block) == text)
        #expect(refusal(NSCompoundPredicate(andPredicateWithSubpredicates: [block])) == text)
    }

    @Test func `is bounded however deep its compounds are`() {
        var predicate = NSPredicate(format: "a == 1")
        for _ in 0..<5_000 { predicate = NSCompoundPredicate(notPredicateWithSubpredicate: predicate) }
        #expect(refusal(predicate)?.contains("more than 64 levels") == true)
    }

    @Test(arguments: [
        "a == 'x' AND NOT (b < 2.5)", "ANY a IN {'x', 'y'} OR b BETWEEN {1, 2}", "%K == 1 AND a IN %@",
        "a > now()",
        "a LIKE[cd] 'x' AND b == nil", "a ==", "TRUEPREDICATE", "a IN {1, 'x'}",
    ])
    func `is the same after an archive`(_ format: String) throws {
        let predicate = NSPredicate(format: format, argumentArray: ["in", [1, 2]])
        let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: _CKFormatPredicate.self, from: data)
        #expect(read == predicate)
        #expect(read?.description == predicate.description)
        #expect(read.flatMap { refusal($0) } == refusal(predicate))
    }
}

private func things() -> [[String: Any]] {
    [
        ["name": "Ärger", "n": 5, "tags": ["x", "y"]], ["name": "bob", "n": 2.5], ["tags": [String]()],
    ]
}

private let evaluations: [(String, [Bool])] = [
    ("n > 3", [true, false, false]),
    ("n == nil", [false, false, true]),
    ("n != 5", [false, true, true]),
    ("NOT n < 3", [true, false, true]),
    ("n BETWEEN {2, 3}", [false, true, false]),
    ("n IN {5, 2.5}", [true, true, false]),
    ("name BEGINSWITH 'b' OR name ENDSWITH 'r'", [true, true, false]),
    ("name ==[cd] 'arger'", [true, false, false]),
    ("name == 'ärger'", [false, false, false]),
    ("name CONTAINS 'o'", [false, true, false]),
    ("name CONTAINS[c] 'R'", [true, false, false]),
    ("name LIKE '?o*'", [false, true, false]),
    ("name LIKE[c] 'B*B'", [false, true, false]),
    ("name MATCHES '[a-z]+'", [false, true, false]),
    ("name MATCHES '('", [false, false, false]),
    ("tags CONTAINS 'x'", [true, false, false]),
    ("'x' IN tags", [true, false, false]),
    ("ANY tags == 'y'", [true, false, false]),
    ("ALL tags IN {'x', 'y', 'z'}", [true, false, true]),
    ("NONE tags == 'x'", [false, false, true]),
    ("n > $limit", [true, false, false]),
    ("n + 1 == 6", [false, false, false]),
]

struct `Evaluating a predicate` {
    @Test(arguments: evaluations)
    func `against dictionaries says what Foundation's would`(_ format: String, _ expected: [Bool]) {
        let predicate = NSPredicate(format: format)
        #expect(
            things().map { predicate.evaluate(with: $0, substitutionVariables: ["limit": 3]) } == expected
        )
        let objects = things().map { NSDictionary(dictionary: $0) }
        #expect(objects.map { predicate.evaluate(with: $0, substitutionVariables: ["limit": 3]) } == expected)
    }

    @Test func `against records knows fields, system fields and words`() {
        let record = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "r"))
        record["title"] = "The Green, Grass"
        record["place"] = CLLocation(latitude: 0, longitude: 0)
        #expect(NSPredicate(format: "recordID == %@", record.recordID).evaluate(with: record))
        #expect(NSPredicate(format: "___recordID == %@", record).evaluate(with: record))
        #expect(NSPredicate(format: "creationDate == nil").evaluate(with: record))
        #expect(NSPredicate(format: "SELF CONTAINS 'grass blue'").evaluate(with: record))
        #expect(NSPredicate(format: "allTokens TOKENMATCHES[cdl] 'GREEN'").evaluate(with: record))
        #expect(NSPredicate(format: "title TOKENMATCHES[cdl] 'green'").evaluate(with: record))
        #expect(!NSPredicate(format: "SELF CONTAINS 'gras'").evaluate(with: record))
        let near = NSPredicate(
            format: "distanceToLocation:fromLocation:(place, %@) < 120000",
            CLLocation(latitude: 1, longitude: 0)
        )
        #expect(near.evaluate(with: record))
        record["place"] = CLLocation(latitude: 3, longitude: 0)
        #expect(!near.evaluate(with: record))
    }

    @Test func `filters arrays of values`() {
        let found = (["abc", "b", "c"] as NSArray).filtered(
            using: NSPredicate(format: "SELF CONTAINS[c] 'B'")
        )
        #expect(found as? [String] == ["abc", "b"])
    }

    @Test func `compares integers and doubles exactly`() {
        let predicate = NSPredicate(format: "n > 9007199254740992.0")
        #expect(predicate.evaluate(with: ["n": 9_007_199_254_740_993]))
        #expect(!predicate.evaluate(with: ["n": 9_007_199_254_740_992]))
        #expect(NSPredicate(format: "n < 1e30 AND n > -1e30").evaluate(with: ["n": Int64.max]))
    }
}
