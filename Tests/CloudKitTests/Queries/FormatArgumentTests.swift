import CloudKit
import Foundation
import RecordModel
import Testing

private let recordID = CKRecord.ID(recordName: "r", zoneID: CKRecordZone.ID(zoneName: "Z"))
private let date = Date(timeIntervalSinceReferenceDate: 12.5)

struct `An argument of a format` {
    @Test func `is the value that the field of a record would have`() throws {
        #expect(try asked(NSPredicate(format: "a == %@", "x")) == compare("a", .equals, .string("x")))
        #expect(
            try asked(NSPredicate(format: "a == %@", "x" as NSString)) == compare("a", .equals, .string("x"))
        )
        #expect(try asked(NSPredicate(format: "a == %@", 5 as NSNumber)) == compare("a", .equals, .int64(5)))
        #expect(
            try asked(NSPredicate(format: "a == %@", NSNumber(value: 5.0)))
                == compare("a", .equals, .double(5))
        )
        #expect(
            try asked(NSPredicate(format: "a == %@", NSNumber(value: true)))
                == compare("a", .equals, .int64(1))
        )
        #expect(try asked(NSPredicate(format: "a == %@", true)) == compare("a", .equals, .int64(1)))
        #expect(
            try asked(NSPredicate(format: "a > %@", date as NSDate))
                == compare("a", .greaterThan, .timestamp(12.5))
        )
        #expect(
            try asked(NSPredicate(format: "a > %@", date as CVarArg))
                == compare("a", .greaterThan, .timestamp(12.5))
        )
        #expect(
            try asked(NSPredicate(format: "a == %@", Data([1, 2]) as NSData))
                == compare("a", .equals, .bytes([1, 2]))
        )
        #expect(
            try asked(NSPredicate(format: "a == %d AND b > %f", 3, 2.5))
                == .and([
                    compare("a", .equals, .int64(3)), compare("b", .greaterThan, .double(2.5)),
                ])
        )
        #expect(
            try asked(NSPredicate(format: "%K == %ld", "a", Int64.max)) == compare("a", .equals, .int64(.max))
        )
    }

    @Test func `is a number when it is a CGFloat or a Decimal`() throws {
        let size = compare("a", .greaterThan, .double(2.5))
        #expect(try asked(NSPredicate(format: "a > %@", CGFloat(2.5))) == size)
        #expect(try asked(NSPredicate(format: "a > %f", CGFloat(2.5))) == size)
        #expect(try asked(NSPredicate(format: "a > %@", argumentArray: [CGFloat(2.5)])) == size)
        #expect(try asked(NSPredicate(format: "a > %@", argumentArray: [Decimal(2.5)])) == size)
        #expect(try asked(NSPredicate(format: "a > %@", NSDecimalNumber(value: 2.5))) == size)
        #expect(
            try asked(NSPredicate(format: "a IN %@", [CGFloat(2.5), 3]))
                == compare("a", .in, .doubleList([2.5, 3]))
        )
    }

    @Test func `is a reference when it is one, an ID or a record`() throws {
        let expected = compare("a", .equals, reference("r"))
        let target = CKRecord.Reference(recordID: recordID, action: .deleteSelf)
        let record = CKRecord(recordType: "T", recordID: recordID)
        #expect(try asked(NSPredicate(format: "a == %@", target)) == expected)
        #expect(try asked(NSPredicate(format: "a == %@", recordID)) == expected)
        #expect(try asked(NSPredicate(format: "a == %@", record)) == expected)
        #expect(try asked(NSPredicate(format: "a == %@", argumentArray: [target])) == expected)
        #expect(
            try asked(NSPredicate(format: "___recordID == %@", "r"))
                == compare("___recordID", .equals, reference("r"))
        )
    }

    @Test func `is a list when it is an array or a set`() throws {
        let names = compare("a", .in, .stringList(["x", "y"]))
        #expect(try asked(NSPredicate(format: "a IN %@", ["x", "y"])) == names)
        #expect(try asked(NSPredicate(format: "a IN %@", ["x", "y"] as NSArray)) == names)
        #expect(try asked(NSPredicate(format: "a IN %@", argumentArray: [["x", "y"]])) == names)
        #expect(
            try asked(NSPredicate(format: "a IN %@", NSSet(array: ["x"])))
                == compare("a", .in, .stringList(["x"]))
        )
        #expect(
            try asked(NSPredicate(format: "a IN %@", Set(["x"]))) == compare("a", .in, .stringList(["x"]))
        )
        #expect(
            try asked(NSPredicate(format: "a IN %@", [1, 2.5])) == compare("a", .in, .doubleList([1, 2.5]))
        )
        let references = FieldValue.referenceList([RecordModel.Reference(recordName: "r", action: .none)])
        #expect(
            try asked(NSPredicate(format: "NOT (recordID IN %@)", [recordID]))
                == compare("___recordID", .notIn, references)
        )
        #expect(try asked(NSPredicate(format: "a IN %@", [String]())) == compare("a", .in, .emptyList))
    }

    @Test func `is a place when it is a location`() throws {
        let location = CLLocation(latitude: 1, longitude: 2)
        let predicate = NSPredicate(
            format: "distanceToLocation:fromLocation:(place, %@) < %f",
            location,
            500.0
        )
        guard case .comparison(let comparison) = try asked(predicate),
            case .location(let place) = comparison.operand
        else { return #expect(Bool(false)) }
        #expect(comparison.field == "place")
        #expect(comparison.comparator == .near)
        #expect(comparison.distanceMetres == 500)
        #expect(place.latitude == 1 && place.longitude == 2)
    }

    @Test func `that no field can hold is refused by its type`() {
        #expect(refusal(NSPredicate(format: "a == %@", UUID()))?.contains("a value of the type UUID") == true)
        #expect(
            refusal(NSPredicate(format: "a == %@", URL(filePath: "/")))?.contains("of the type URL") == true
        )
        #expect(refusal(NSPredicate(format: "a == %@", NSNull()))?.contains("comparison with nil") == true)
        #expect(
            refusal(NSPredicate(format: "a == %@", argumentArray: [Optional<String>.none as Any]))?
                .contains("comparison with nil") == true
        )
        #expect(refusal(NSPredicate(format: "a == %f", Double.nan))?.contains("Unable to parse") == true)
        #expect(refusal(NSPredicate(format: "a == %@", [[1]]))?.contains("a list can't hold lists") == true)
        #expect(refusal(NSPredicate(format: "a == %@"))?.contains("Insufficient arguments") == true)
        #expect(
            refusal(NSPredicate(format: "a == %@", argumentArray: nil))?.contains("Insufficient arguments")
                == true
        )
    }

    @Test func `may come in a C list`() throws {
        let text: NSString = "x"
        let predicate = withVaList([Int32(-3), Int64.min, 0.1, text]) {
            NSPredicate(format: "a = '%d' AND a == %d AND b == %ld AND c == %f AND d == %@", arguments: $0)
        }
        #expect(
            try asked(predicate)
                == .and([
                    compare("a", .equals, .string("%d")), compare("a", .equals, .int64(-3)),
                    compare("b", .equals, .int64(.min)), compare("c", .equals, .double(0.1)),
                    compare("d", .equals, .string("x")),
                ])
        )
    }

    @Test func `is printed by a format of Foundation's too`() {
        #expect(String(format: "%@ %@", NSNumber(value: 5), date as CVarArg) == "5 \(date)")
        #expect(String(format: "%@", recordID) == recordID.description)
        #expect(String(format: "%@", ["a"] as CVarArg) == "[\"a\"]")
    }
}
