import RecordModel

/// One zone of 1,000,000 records, and one of 1,000 of the same kind.
///
/// The large one has 50,000 authors of 20 books each, and 1,000 shelves and 1,000 topics of 1,000
/// books each. A shelf has 10 books of each of its 100 topics. No two books were published in the
/// same minute. Neighbours in the order of any field were not saved together.
enum Books {
    static let recordCount = 1_000_000
    static let authors = 50_000
    static let shelves = 1_000
    static let topicsPerShelf = 100
    static let branchCount = 1_000

    static let zone = ZoneID(zoneName: "library")
    static let branch = ZoneID(zoneName: "branch")
    static let recordType = "Book"

    /// A record by its number; those of the large zone come first.
    static func record(_ number: Int) -> RecordSave {
        let zone = number < self.recordCount ? self.zone : self.branch
        // The steps are coprime to the count, so each is a permutation of all numbers.
        let scattered = number * 654_435_761 % self.recordCount
        let shuffled = number * 370_248_451 % self.recordCount
        let shelf = shuffled % self.shelves
        let topic = self.topic(shuffled / self.shelves % self.topicsPerShelf, onShelf: shelf)
        return RecordSave(
            id: RecordID(zone: zone, recordName: Dataset.scatteredName(number)),
            recordType: self.recordType,
            changes: Dataset.body([
                Field(name: "title", value: .string("The quick brown fox jumps over the lazy dog")),
                Field(name: "author", value: self.author(scattered % self.authors)),
                Field(name: "published", value: self.minute(scattered)),
                Field(name: "shelf", value: self.number(shelf)),
                Field(name: "topic", value: self.number(topic)),
            ])
        )
    }

    static func topic(_ number: Int, onShelf shelf: Int) -> Int { (10 * shelf + number) % self.shelves }

    private static func author(_ number: Int) -> FieldValue { .string("author \(100_000 + number)") }

    private static func minute(_ number: Int) -> FieldValue { .timestamp(Double(60 * number)) }

    /// All numbers have one length, so all bodies do.
    private static func number(_ number: Int) -> FieldValue { .int64(Int64(1_000 + number)) }

    // MARK: Queries

    static func byAuthor(_ author: Int) -> Query {
        self.query([Comparison(field: "author", comparator: .equals, operand: self.author(author))])
    }

    static func published(from minute: Int) -> Query {
        var query = self.query([
            Comparison(field: "published", comparator: .greaterThanOrEquals, operand: self.minute(minute))
        ])
        query.sort = [SortKey(field: "published")]
        return query
    }

    static func onShelf(_ shelf: Int, topic: Int? = nil) -> Query {
        let topics = topic.map { Comparison(field: "topic", comparator: .equals, operand: self.number($0)) }
        let shelf = Comparison(field: "shelf", comparator: .equals, operand: self.number(shelf))
        return self.query([shelf] + (topics.map { [$0] } ?? []))
    }

    private static func query(_ comparisons: [Comparison]) -> Query {
        let parts = comparisons.map { Predicate.comparison($0) }
        return Query(recordType: self.recordType, predicate: parts.count == 1 ? parts[0] : .and(parts))
    }
}
