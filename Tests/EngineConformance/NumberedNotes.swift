import RecordModel
import RecordStore
import Testing

/// A zone of notes that differ by their numbers, and conditions on them.
enum NumberedNotes {
    /// Notes with a number, every second with a rank, in one save.
    static func engine(
        _ count: Int,
        _ kind: EngineKind,
        configure: (inout EngineSettings) -> Void = { _ in }
    ) async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(kind, configure: configure)
        for start in stride(from: 0, to: count, by: 200) {
            let saves = (start..<min(count, start + 200)).map { number in
                save("n\(1_000 + number)", self.fields(number))
            }
            let outcomes = try await it.modify(saves)
            try #require(outcomes.areSaved)
        }
        return it
    }

    static func fields(_ number: Int) -> [String: FieldValue] {
        var fields: [String: FieldValue] = [
            "number": .int64(Int64(number)), "parity": .int64(Int64(number % 2)),
            "title": .string("title \(number)"), "tags": .stringList(["a", "b\(number % 3)", "c"]),
        ]
        if number % 2 == 0 { fields["rank"] = .double(Double(number / 10)) }
        return fields
    }

    static func names(_ answer: FoundPage) -> [String] { answer.records.map(\.id.recordName) }

    static func number(_ comparator: Comparator, _ number: Int64) -> RecordModel.Predicate {
        .comparison(Comparison(field: "number", comparator: comparator, operand: .int64(number)))
    }

    static func equals(_ field: String, _ value: FieldValue) -> RecordModel.Predicate {
        .comparison(Comparison(field: field, comparator: .equals, operand: value))
    }
}
