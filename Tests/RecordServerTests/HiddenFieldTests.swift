import RecordModel
import RecordServer
import RecordStore
import Testing
import WireProtocol

/// Fields with the name of a property of the system's.
@Suite(.timeLimit(.minutes(10)))
struct HiddenFieldTests {
    private static let message: String =
        "a query named a field of the system, not the record type's own of the same name"

    private static func query(
        _ type: String,
        _ predicate: RecordModel.Predicate = .all,
        sort: String? = nil
    ) -> Operation {
        let query = Query(
            recordType: type,
            predicate: predicate,
            sort: sort.map { [SortKey(field: $0)] } ?? []
        )
        return .queryRecords(QueryRecords(scope: .private, start: .query(query, zone: nil)))
    }

    @Test func `they are saved, and an operator is told once when a query means the system's`() async throws {
        try await ServerUnderTest.run { it in
            let peer = FeedTests.Conversation(try await it.signIn())
            let fields = [("creationDate", FieldValue.string("mine")), ("parent", .string("p"))]
            for type in ["Note", "Other"] {
                let id = RecordID(zone: .default, recordName: type)
                let body = RecordBody(fields.map { Field(name: $0.0, value: $0.1) })
                let save = RecordSave(id: id, recordType: type, changes: body)
                #expect(
                    try await peer.ask(.modifyRecords(ModifyRecords(scope: .private, saves: [save])))
                        .end.failure == nil
                )
            }
            func told() -> [String] {
                it.log.lines.filter { $0.message == Self.message }.map {
                    "\($0.level) \($0.metadata["record_type"] ?? "") \($0.metadata["field"] ?? "")"
                }
            }
            #expect(try await peer.ask(Self.query("Note")).end.failure == nil && told().isEmpty)
            let mine = Comparison(field: "creationDate", comparator: .equals, operand: .string("mine"))
            #expect(try await peer.ask(Self.query("Note", .comparison(mine))).end.failure == nil)
            #expect(told().isEmpty)
            for _ in 0..<3 {
                let sorted = try await peer.ask(Self.query("Note", sort: "___createTime"))
                #expect(sorted.end.failure == nil)
            }
            #expect(told() == ["notice Note creationDate"])
            let parent = Comparison(
                field: "___parent",
                comparator: .equals,
                operand: .reference(Reference(recordName: "x", action: .none))
            )
            _ = try await peer.ask(Self.query("Other", .or([.nothing, .comparison(parent)])))
            #expect(told() == ["notice Note creationDate", "notice Other parent"])
        }
    }
}
