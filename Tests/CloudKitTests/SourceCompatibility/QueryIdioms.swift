// What published code writes about queries, in the shape of Apple's documented calls.
import CloudKit

enum QueryIdioms {
    static func documented(
        _ name: String,
        _ date: Date,
        _ location: CLLocation,
        _ other: CKRecord
    ) -> [NSPredicate] {
        let radius: Double = 10
        return [
            NSPredicate(format: "%K == %@", "name", name),
            NSPredicate(format: "name == %@", name),
            NSPredicate(format: "ANY favoriteColors = 'red'"),
            NSPredicate(format: "ANY favoriteColors IN %@", ["red", "green"]),
            NSPredicate(format: "ANY favoriteColors BEGINSWITH 'r'"),
            NSPredicate(format: "favoriteColors CONTAINS 'red'"),
            NSPredicate(format: "self contains 'bob smith'"),
            NSPredicate(format: "self contains 'bob' AND self contains 'smith'"),
            NSPredicate(format: "distanceToLocation:fromLocation:(location, %@) < %f", location, radius),
            NSPredicate(
                format: "distanceToLocation:fromLocation:(%K, %@) < %f",
                "location",
                location,
                radius
            ),
            NSPredicate(format: "parent == %@", CKRecord.Reference(record: other, action: .none)),
            NSPredicate(format: "recordID = %@", CKRecord.Reference(recordID: other.recordID, action: .none)),
            NSPredicate(format: "recordID IN %@", [other.recordID]),
            NSPredicate(format: "creatorUserRecordID == %@", argumentArray: [other.recordID]),
            NSPredicate(format: "modificationDate > %@", date as NSDate),
            NSPredicate(format: "modificationDate >= %@", date as CVarArg),
            NSPredicate(format: "creationDate > %@", Date.distantPast as CVarArg),
            NSPredicate(format: "(state == %d) AND (dueAt < %@)", 1, NSDate()),
            NSPredicate(format: "authorRecordName IN %@", ["a", "b"]),
            NSPredicate(format: "title BEGINSWITH %@", name),
            NSPredicate(format: "allTokens TOKENMATCHES[cdl] %@", name),
            NSPredicate(format: "%K" + " == %@", "owner", other.recordID),
            NSPredicate(format: "TRUEPREDICATE"),
            NSPredicate(format: "isAccount = \"1\" && title != 'text'"),
            NSPredicate(format: "due < now()"),
        ]
    }

    static func compound(_ parts: [NSPredicate]) -> [NSPredicate] {
        [
            NSCompoundPredicate(andPredicateWithSubpredicates: parts),
            NSCompoundPredicate(type: .and, subpredicates: parts),
        ]
    }

    static func query(for recordType: String, near location: CLLocation) -> CKQuery {
        let query = CKQuery(recordType: recordType, predicate: .init(format: "%K != %@", "title", "draft"))
        query.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
        query.sortDescriptors?.append(CKLocationSortDescriptor(key: "location", relativeLocation: location))
        return query
    }

    static func query(
        for recordType: CKRecord.RecordType,
        matching predicate: NSPredicate = NSPredicate(value: true)
    ) -> CKQuery {
        let query = CKQuery(recordType: recordType, predicate: predicate)
        let sort = NSSortDescriptor(key: #"name"#, ascending: true)
        query.sortDescriptors = [sort]
        return query
    }
}
