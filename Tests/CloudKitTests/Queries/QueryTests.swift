import CloudKit
import Foundation
import RecordModel
import Testing

private let home = CLLocation(latitude: 1, longitude: 2)

private func query(sortedBy descriptors: NSSortDescriptor...) -> CKQuery {
    let query = CKQuery(recordType: "Thing", predicate: NSPredicate(value: true))
    query.sortDescriptors = descriptors
    return query
}

struct `A query` {
    @Test func `asks for a type, a predicate and an order`() throws {
        let query = CKQuery(recordType: "Thing", predicate: NSPredicate(format: "a == 1"))
        #expect(query.sortDescriptors == nil)
        #expect(
            try query.modelQuery()
                == RecordModel.Query(recordType: "Thing", predicate: compare("a", .equals, .int64(1)))
        )
        query.sortDescriptors = [
            NSSortDescriptor(key: "creationDate", ascending: false),
            NSSortDescriptor(key: "name", ascending: true),
            CKLocationSortDescriptor(key: "place", relativeLocation: home),
        ]
        let sort = try query.modelQuery().sort
        #expect(sort.map(\.field) == ["___createTime", "name", "place"])
        #expect(sort.map(\.isAscending) == [false, true, true])
        #expect(sort[0].origin == nil && sort[1].origin == nil)
        #expect(sort[2].origin?.latitude == 1 && sort[2].origin?.longitude == 2)
    }

    @Test func `keeps the predicate that it was given`() {
        let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(value: true)])
        #expect(CKQuery(recordType: "Thing", predicate: compound).predicate === compound)
    }

    @Test func `means by now the time when it was made`() throws {
        let earlier = Date().timeIntervalSinceReferenceDate
        let query = CKQuery(recordType: "Thing", predicate: NSPredicate(format: "due < now()"))
        let later = Date().timeIntervalSinceReferenceDate
        let copy = try #require(query.copy() as? CKQuery)
        for query in [query, copy] {
            guard case .comparison(let comparison) = try query.modelQuery().predicate,
                case .timestamp(let now) = comparison.operand
            else { return #expect(Bool(false)) }
            #expect(now >= earlier)
        }
        #expect(later >= earlier)
        #expect(try query.modelQuery() == query.modelQuery())
    }

    @Test func `without a record type fails`() {
        #expect(
            refusal(CKQuery(recordType: "", predicate: NSPredicate(value: true)))
                == "A query needs a record type"
        )
    }

    @Test func `fails with Apple's text for what can't be asked`() {
        let text = "Invalid predicate: name LIKE \"x*\" (the operator LIKE is not supported)"
        #expect(refusal(NSPredicate(format: "name LIKE 'x*'")) == text)
    }

    @Test func `has at most eight sort descriptors`() {
        let descriptors = (0..<9).map { NSSortDescriptor(key: "k\($0)", ascending: true) }
        let query = CKQuery(recordType: "Thing", predicate: NSPredicate(value: true))
        query.sortDescriptors = Array(descriptors.prefix(8))
        #expect(refusal(query) == nil)
        query.sortDescriptors = descriptors
        #expect(refusal(query) == "A query has at most 8 sort descriptors")
    }

    @Test func `can't be sorted by what is no field`() {
        let keyPath = NSSortDescriptor(keyPath: \CKRecord.recordType, ascending: true)
        #expect(keyPath.key == nil)
        #expect(refusal(query(sortedBy: keyPath))?.contains("sorts by keys only") == true)
        #expect(
            refusal(query(sortedBy: NSSortDescriptor(key: nil, ascending: true)))?.contains("keys only")
                == true
        )
        #expect(
            refusal(query(sortedBy: NSSortDescriptor(key: "a.b", ascending: true)))?.contains("key paths")
                == true
        )
        #expect(
            refusal(query(sortedBy: NSSortDescriptor(key: "share", ascending: true)))?.contains("'share'")
                == true
        )
        let farthest = CKLocationSortDescriptor(key: "place", relativeLocation: home).reversedSortDescriptor
        #expect(
            (farthest as? NSSortDescriptor).flatMap { refusal(query(sortedBy: $0)) }?.contains(
                "ascending order only"
            ) == true
        )
        let nowhere = CKLocationSortDescriptor(
            key: "place",
            relativeLocation: CLLocation(latitude: 99, longitude: 0)
        )
        #expect(refusal(query(sortedBy: nowhere))?.contains("off the globe") == true)
    }

    @Test func `copies to a query of its own`() throws {
        let query = query(sortedBy: NSSortDescriptor(key: "a", ascending: true))
        let copy = try #require(query.copy() as? CKQuery)
        query.sortDescriptors = nil
        #expect(copy.recordType == "Thing")
        #expect(copy.predicate === query.predicate)
        #expect(copy.sortDescriptors == [NSSortDescriptor(key: "a", ascending: true)])
    }

    @Test func `is described with its predicate`() {
        let query = query(sortedBy: NSSortDescriptor(key: "a", ascending: false))
        #expect(
            query.description
                == "<CKQuery: recordType=Thing, predicate=TRUEPREDICATE, sortDescriptors=[(a, descending)]>"
        )
    }
}

struct `An archive of a query` {
    private func read(_ query: CKQuery) throws -> CKQuery? {
        let data = try NSKeyedArchiver.archivedData(withRootObject: query, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuery.self, from: data)
    }

    @Test func `keeps its predicate`() throws {
        let predicates: [NSPredicate] = [
            NSPredicate(value: true), NSPredicate(value: false),
            NSPredicate(format: "a == 1 OR b IN %@", ["x"]),
            NSCompoundPredicate(andPredicateWithSubpredicates: [
                NSPredicate(value: true), NSPredicate(format: "a == 1"),
            ]),
            NSCompoundPredicate(
                notPredicateWithSubpredicate: NSPredicate(format: "a == %@", CKRecord.ID(recordName: "r"))
            ),
            NSPredicate(format: "a LIKE 'x'"), NSPredicate(format: "a"), NSPredicate { _, _ in true },
            NSPredicate(
                format: "a == %@",
                UUID(uuidString: "00000000-0000-0000-0000-000000000000") ?? UUID()
            ),
        ]
        for predicate in predicates {
            let query = CKQuery(recordType: "Thing", predicate: predicate)
            let read = try #require(try self.read(query))
            #expect(read.recordType == "Thing")
            #expect(read.sortDescriptors == nil)
            #expect((try? read.modelQuery()) == (try? query.modelQuery()))
            #expect(refusal(read) == refusal(query))
        }
    }

    @Test func `keeps its order`() throws {
        let sorted = query(
            sortedBy: NSSortDescriptor(key: "a", ascending: false),
            CKLocationSortDescriptor(key: "place", relativeLocation: home)
        )
        let read = try #require(try self.read(sorted))
        #expect(read.sortDescriptors == sorted.sortDescriptors)
        #expect(try read.modelQuery() == sorted.modelQuery())
        #expect(try self.read(query())?.sortDescriptors == [])
    }

    @Test func `keeps that it can't be sorted`() throws {
        let nowhere = CKLocationSortDescriptor(
            key: "place",
            relativeLocation: CLLocation(latitude: 99, longitude: 0)
        )
        let byKeyPath = NSSortDescriptor(keyPath: \CKRecord.recordType, ascending: true)
        for descriptor in [nowhere, byKeyPath] {
            let read = try #require(try self.read(query(sortedBy: descriptor)))
            #expect(refusal(read)?.contains("Invalid sort descriptor") == true)
        }
    }

    @Test func `of something else makes nothing`() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        CKRecord.ID(recordName: "r").encode(with: archiver)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect(CKQuery(coder: unarchiver) == nil)
        #expect(_CKFormatPredicate(coder: unarchiver) == nil)
        #expect(CKLocationSortDescriptor(coder: unarchiver) == nil)
    }
}

struct `A sort descriptor` {
    @Test func `knows its key and direction, and equals by them`() {
        let descriptor = NSSortDescriptor(key: "a", ascending: true)
        #expect(descriptor.key == "a")
        #expect(descriptor.ascending)
        #expect(descriptor == NSSortDescriptor(key: "a", ascending: true))
        #expect(descriptor.hash == NSSortDescriptor(key: "a", ascending: true).hash)
        #expect(descriptor != NSSortDescriptor(key: "a", ascending: false))
        #expect(descriptor != NSSortDescriptor(key: "b", ascending: true))
        #expect(
            descriptor.reversedSortDescriptor as? NSSortDescriptor
                == NSSortDescriptor(key: "a", ascending: false)
        )
        #expect((descriptor.copy() as? NSSortDescriptor)?.key == "a")
        let nearest = CKLocationSortDescriptor(key: "a", relativeLocation: home)
        #expect(
            nearest
                == CKLocationSortDescriptor(key: "a", relativeLocation: CLLocation(latitude: 1, longitude: 2))
        )
        #expect(
            nearest
                != CKLocationSortDescriptor(key: "a", relativeLocation: CLLocation(latitude: 1, longitude: 3))
        )
        #expect(nearest != descriptor && descriptor != nearest)
        #expect(nearest.key == "a" && nearest.ascending && nearest.relativeLocation === home)
    }

    @Test func `sorts records and dictionaries here`() throws {
        let records = [(3, 5.0), (1, 0.0), (2, 9.0)].map { number, latitude in
            let record = CKRecord(recordType: "T")
            record["n"] = number
            record["place"] = CLLocation(latitude: latitude, longitude: 0)
            return record
        }
        func numbers(_ descriptor: NSSortDescriptor) -> [Int] {
            let sorted = records.sorted { descriptor.compare($0, to: $1) == .orderedAscending }
            return sorted.compactMap { $0["n"] as? Int }
        }
        #expect(numbers(NSSortDescriptor(key: "n", ascending: true)) == [1, 2, 3])
        #expect(numbers(NSSortDescriptor(key: "n", ascending: false)) == [3, 2, 1])
        let nearest = CKLocationSortDescriptor(
            key: "place",
            relativeLocation: CLLocation(latitude: 8, longitude: 0)
        )
        #expect(numbers(nearest) == [2, 3, 1])
        let dictionaries: [[String: Any]] = [["a": "z"], [:], ["a": "y"]]
        let byText = NSSortDescriptor(key: "a", ascending: true)
        let sorted = dictionaries.sorted { byText.compare($0, to: $1) == .orderedAscending }
        #expect(sorted.map { $0["a"] as? String } == [nil, "y", "z"])
    }
}
