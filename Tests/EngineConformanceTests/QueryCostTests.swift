import Foundation
import RecordModel
import RecordStore
import StorageContract
import Testing

@testable import EngineConformance

/// What one page of a query may compare, whatever its predicate is (`Protocol/README.md`, section 5.7).
@Suite(.timeLimit(.minutes(10)))
struct QueryCostTests {
    private static let count = 200
    /// No index helps with what a number is not.
    private static func predicate(comparisons: Int) -> RecordModel.Predicate {
        .and((0..<comparisons).map { NumberedNotes.number(.notEquals, Int64($0 * 10)) })
    }

    @Test(arguments: EngineKind.allCases, [true, false])
    func `a page of many comparisons ends with a cursor, and the pages have all that there is`(
        kind: EngineKind,
        isCount: Bool
    ) async throws {
        let it = try await NumberedNotes.engine(Self.count, kind) {
            $0.queryBudget.comparisonsMax = 1_000
            $0.inlineQueryCostMax = 0
        }
        let query = Query(recordType: "Note", predicate: Self.predicate(comparisons: 20))
        var read = QueryRead(query: query, isCount: isCount)
        var pages = 0
        var found = 0
        repeat {
            let answer = try await it.query(read)
            // Each record is compared with the whole predicate, and once more where the branch that
            // found it has a condition.
            #expect(answer.comparisons < 1_000 + 2 * 20)
            found += isCount ? Int(answer.count) : answer.records.count
            read.resume = answer.resume
            pages += 1
        } while read.resume != nil
        #expect(found == Self.count - 20)
        #expect(pages >= Self.count * 20 / 1_000)
    }

    @Test(arguments: EngineKind.allCases)
    func `elements of lists and long texts count by their size`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind) { $0.queryBudget.comparisonsMax = 500 }
        let tags = FieldValue.stringList((0..<500).map { "tag \($0)" })
        let text = FieldValue.string(String(repeating: "word ", count: 2_000))
        _ = try await it.modify((0..<6).map { save("n\($0)", ["tags": tags, "text": text]) })
        let predicates: [RecordModel.Predicate] = [
            .comparison(
                Comparison(field: "tags", comparator: .listNotContains, operand: .string("none"))
            ),
            .comparison(
                Comparison(
                    field: "tags",
                    comparator: .notListContainsAll,
                    operand: .stringList((0..<40).map { "none \($0)" })
                )
            ),
            .and(
                (0..<60).map {
                    .comparison(
                        Comparison(field: "text", comparator: .notEquals, operand: .string("none \($0)"))
                    )
                }
            ),
        ]
        for predicate in predicates {
            var read = QueryRead(query: Query(recordType: "Note", predicate: predicate))
            var pages = 0
            var found: Set<String> = []
            repeat {
                let answer = try await it.query(read)
                found.formUnion(NumberedNotes.names(answer))
                read.resume = answer.resume
                pages += 1
            } while read.resume != nil
            #expect(found.count == 6)
            #expect(pages > 2, "\(predicate)")
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `what has to be compared as a whole is refused beyond a bound`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(Self.count, kind) {
            $0.queryBudget.comparisonsMax = 100
            $0.queryBudget.collectedComparisonsMax = 3_000
        }
        func query(comparisons: Int, by field: String) -> QueryRead {
            QueryRead(
                query: Query(
                    recordType: "Note",
                    predicate: Self.predicate(comparisons: comparisons),
                    sort: [SortKey(field: field)]
                )
            )
        }
        // All have the same title but for their numbers, and few have the same rank.
        #expect(try await it.query(query(comparisons: 20, by: "rank")).records.count > 0)
        #expect(try await it.query(query(comparisons: 10, by: "parity")).records.count > 0)
        await #expect(throws: StoreError.queryTooBroad) {
            try await it.query(query(comparisons: 40, by: "parity"))
        }
    }

    /// Whether a query is answered before the call returns, on the thread of its caller.
    private static func isAnsweredByCaller(_ read: QueryRead, _ it: EngineUnderTest) async -> Bool {
        await withCheckedContinuation { continuation in
            let caller = pthread_self()
            it.store.query(read, for: it.privately, into: KeptRecords()) { _ in
                continuation.resume(returning: pthread_equal(caller, pthread_self()) != 0)
            }
        }
    }

    @Test(arguments: EngineKind.readingOnCaller)
    func `a query of many comparisons leaves the thread of its caller`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(Self.count, kind) { $0.inlineQueryCostMax = 8_000 }
        func isAnsweredByCaller(comparisons: Int) async -> Bool {
            let query = Query(recordType: "Note", predicate: Self.predicate(comparisons: comparisons))
            return await Self.isAnsweredByCaller(QueryRead(query: query, limit: 100), it)
        }
        #expect(await isAnsweredByCaller(comparisons: 5))
        #expect(await !isAnsweredByCaller(comparisons: 100))
    }

    @Test(arguments: EngineKind.readingOnCaller)
    func `a query of many records leaves the thread of its caller, a count of as many entries does not`(
        kind: EngineKind
    ) async throws {
        // Enough for 60 records with their entries, or for a thousand entries.
        let it = try await NumberedNotes.engine(Self.count, kind) { $0.inlineQueryCostMax = 1_020 }
        let query = Query(recordType: "Note", predicate: NumberedNotes.number(.notEquals, -1))
        let count = QueryRead(query: Query(recordType: "Note"), limit: 1, isCount: true)
        #expect(await Self.isAnsweredByCaller(count, it))
        #expect(await Self.isAnsweredByCaller(QueryRead(query: query, limit: 50), it))
        // The last: what is noted of a shape may count for another one.
        #expect(await !Self.isAnsweredByCaller(QueryRead(query: query, limit: 62), it))
    }

    @Test(arguments: EngineKind.readingOnCaller)
    func `a query for many records is not attempted, however few there are`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(3, kind)
        let query = Query(recordType: "Note")
        #expect(await Self.isAnsweredByCaller(QueryRead(query: query, limit: 255), it))
        #expect(await !Self.isAnsweredByCaller(QueryRead(query: query, limit: 256), it))
    }

    @Test(arguments: EngineKind.readingOnCaller)
    func `large bodies count`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind) { $0.inlineQueryCostMax = 400 }
        let large = FieldValue.bytes([UInt8](repeating: 7, count: 100_000))
        _ = try await it.modify((0..<6).map { save("n\($0)", ["data": large]) })
        let query = Query(recordType: "Note")
        #expect(await Self.isAnsweredByCaller(QueryRead(query: query, limit: 2), it))
        #expect(await !Self.isAnsweredByCaller(QueryRead(query: query, limit: 6), it))
    }

    @Test(arguments: EngineKind.allCases)
    func `an attempt that was lost leaves nothing in the response`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(Self.count, kind) { $0.inlineQueryCostMax = 1_020 }
        let page = try await it.query(QueryRead(query: Query(recordType: "Note"), limit: 62))
        #expect(page.recordCount == 62)
        #expect(Set(NumberedNotes.names(page)).count == 62 && page.records.count == 62)
    }

    @Test(arguments: EngineKind.readingOnCaller)
    func `after a lost attempt, queries of the same shape go to another thread at once`(
        kind: EngineKind
    ) async throws {
        let it = try await NumberedNotes.engine(Self.count, kind) { $0.inlineQueryCostMax = 1_020 }
        func read(_ limit: Int, below number: Int64) -> QueryRead {
            let query = Query(recordType: "Note", predicate: NumberedNotes.number(.lessThan, number))
            return QueryRead(query: query, limit: limit)
        }
        let others = QueryRead(query: Query(recordType: "Note"), limit: 5)
        #expect(await Self.isAnsweredByCaller(read(5, below: 1_000), it))
        #expect(await !Self.isAnsweredByCaller(read(62, below: 2_000), it))
        for _ in 0..<15 { #expect(await !Self.isAnsweredByCaller(read(5, below: 1_000), it)) }
        #expect(await Self.isAnsweredByCaller(read(5, below: 1_000), it))
        #expect(await Self.isAnsweredByCaller(others, it))
    }
}
