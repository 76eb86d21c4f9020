import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Record names are any text without control characters, and are compared by their bytes.
@Suite(.timeLimit(.minutes(10)))
struct RecordNameTests {
    /// `é` as one character, and as an `e` with a combining accent: equal as strings, two names.
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"
    /// Two accents in both orders: as many bytes, and equal as strings.
    private static let accents = ["a\u{323}\u{307}", "a\u{307}\u{323}"]
    private static let names =
        [composed, decomposed, "日本語", "🌊", "👩‍👩‍👧", "\u{FEFF}a", "Ω", "Å", "\u{212B}"] + accents

    private static func byBytes(_ names: [String]) -> [String] {
        names.sorted { ExactName($0) < ExactName($1) }
    }

    @Test(arguments: EngineKind.allCases)
    func `names that are equal as strings are two records, in one batch and by themselves`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let saves = Self.names.map { save($0, ["title": .string($0)]) }
        #expect(try await it.modify(saves).allSatisfy(\.isSaved))
        for name in Self.names {
            let record = try #require(try await it.record(id(name)))
            #expect(Array(record.id.recordName.utf8) == Array(name.utf8))
            guard case .string(let title)? = record["title"] else { throw RecordNameTestError.noTitle }
            #expect(Array(title.utf8) == Array(name.utf8))
        }
        // A conflict is with the record of the same bytes.
        #expect(try await !it.modify([save(Self.composed)])[0].isSaved)
        let other = RecordID(zone: notes, recordName: "e\u{301}t\u{E9}")
        #expect(try await it.record(other) == nil)
        _ = try await it.modify([], deletes: [id(Self.composed)])
        #expect(try await it.record(id(Self.composed)) == nil)
        #expect(try await it.record(id(Self.decomposed)) != nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `a name has at most 255 UTF-16 units, which are up to 765 bytes`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let longest = [
            String(repeating: "n", count: 255), String(repeating: "語", count: 255),
            String(repeating: "🌊", count: 127) + "n",
        ]
        for name in longest {
            #expect(try await it.modify([save(name)])[0].isSaved)
            #expect(try await it.record(id(name)) != nil)
            for tooLong in [name + "n", name + "語"] {
                #expect(try await it.modify([save(tooLong)]) == [.failed(.nameInvalid(.record))])
            }
        }
        for name in ["", "_a", "a\n", "\u{7F}", "a\u{9F}", "\0"] {
            #expect(try await it.modify([save(name)]) == [.failed(.nameInvalid(.record))], "\(name.utf8)")
        }
        // The widest key of an index: two names of 765 bytes.
        let (first, second) = (String(repeating: "語", count: 255), String(repeating: "本", count: 255))
        let reference = FieldValue.reference(Reference(recordName: first, action: .deleteSelf))
        #expect(try await it.modify([save(second, ["to": reference])])[0].isSaved)
        #expect(try await it.modify([], deletes: [id(first)]) == [.deleted])
        #expect(try await it.record(id(second)) == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `references, parents and cascades follow bytes`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let to = { (name: String) in FieldValue.reference(Reference(recordName: name, action: .deleteSelf)) }
        let saves = [
            save(Self.composed), save(Self.decomposed), save("to composed", ["to": to(Self.composed)]),
            save("to decomposed", ["to": to(Self.decomposed)]),
            save(Self.accents[0], parent: .set(recordName: Self.composed)),
            save(Self.accents[1], parent: .set(recordName: Self.decomposed)),
        ]
        #expect(try await it.modify(saves).allSatisfy(\.isSaved))
        // Each keeps its own parent only.
        #expect(try await it.modify([], deletes: [id(Self.accents[0])]) == [.deleted])
        #expect(try await it.modify([], deletes: [id(Self.composed)]) == [.deleted])
        #expect(try await it.record(id("to composed")) == nil)
        #expect(try await it.record(id("to decomposed")) != nil)
        let kept = try await it.modify([], deletes: [id(Self.decomposed)])
        #expect(kept == [.failed(.referenceWouldDangle(referrer: Self.accents[1]))])
        // A target of other bytes is none.
        let missing = try await it.modify([save("lost", ["to": to(Self.composed)])])
        #expect(missing == [.failed(.referenceTargetMissing(recordName: Self.composed))])
    }

    @Test(arguments: EngineKind.allCases)
    func `queries find and sort by bytes, page by page`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let saves = Self.names.map { name in
            save(name, ["to": .reference(Reference(recordName: name, action: .none)), "same": .int64(1)])
        }
        #expect(try await it.modify(saves).allSatisfy(\.isSaved))
        for field in ["___recordID", "to"] {
            for name in Self.names {
                let target = FieldValue.reference(Reference(recordName: name, action: .none))
                let query = Query(
                    recordType: "Note",
                    predicate: .comparison(Comparison(field: field, comparator: .equals, operand: target))
                )
                let found = NumberedNotes.names(try await it.query(QueryRead(query: query)))
                #expect(found.map { Array($0.utf8) } == [Array(name.utf8)], "\(field)")
            }
        }
        for sort in [[SortKey(field: "___recordID")], [SortKey(field: "same")]] {
            var read = QueryRead(query: Query(recordType: "Note", sort: sort), limit: 2)
            var names: [String] = []
            while true {
                let page = try await it.query(read)
                names += NumberedNotes.names(page)
                guard let resume = page.resume else { break }
                read.resume = resume
            }
            #expect(names.map { Array($0.utf8) } == Self.byBytes(Self.names).map { Array($0.utf8) })
        }
    }
}

private enum RecordNameTestError: Error {
    case noTitle
}
