import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Schemas as an operator changes them.
@Suite(.timeLimit(.minutes(10)))
struct SchemaStoreTests {
    private static let container = EngineUnderTest.container
    private static let grants =
        "GRANT WRITE TO \"_creator\", GRANT CREATE TO \"_icloud\", GRANT READ TO \"_world\""

    private func parsed(_ types: String) throws -> SchemaDocument {
        try SchemaParser.parse("DEFINE SCHEMA \(types)")
    }

    private func note(_ fields: String) throws -> SchemaDocument {
        try self.parsed("RECORD TYPE Note (\(fields), \(Self.grants));")
    }

    @discardableResult
    private func replace(_ it: EngineUnderTest, _ document: SchemaDocument) throws -> SchemaDifference {
        try it.store.schemas.apply(.replaceDevelopment(document), inContainer: Self.container)
    }

    @discardableResult
    private func deploy(_ it: EngineUnderTest) throws -> SchemaDifference {
        try it.store.schemas.apply(.deploy, inContainer: Self.container)
    }

    private func schema(_ it: EngineUnderTest, _ environment: Environment) throws -> SchemaDocument {
        try it.store.schemas.schema(ofContainer: Self.container, environment: environment)
    }

    @Test(arguments: EngineKind.allCases)
    func `both environments begin with user records alone`(kind: EngineKind) throws {
        let it = try EngineUnderTest(kind)
        for environment in Environment.allCases {
            #expect(try self.schema(it, environment) == SchemaDocument(recordTypes: [SchemaRules.users]))
        }
        #expect(throws: SchemaStoreError.containerMissing) {
            try it.store.schemas.schema(ofContainer: "none", environment: .development)
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `what saves define is exported as CloudKit would`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([
            save(
                "a",
                ["s": .string("x"), "n": .int64(1), "b": .bytes([1]), "l": .stringList(["x"])]
            )
        ])
        let text = try self.schema(it, .development).text
        #expect(
            text.hasPrefix(
                """
                DEFINE SCHEMA

                    RECORD TYPE Note (
                        "___createTime" TIMESTAMP QUERYABLE SORTABLE,
                        "___createdBy"  REFERENCE,
                        "___etag"       STRING,
                        "___modTime"    TIMESTAMP,
                        "___modifiedBy" REFERENCE,
                        "___recordID"   REFERENCE QUERYABLE,
                        b               BYTES,
                        l               LIST<STRING> QUERYABLE,
                        n               INT64 QUERYABLE SORTABLE,
                        s               STRING QUERYABLE SEARCHABLE SORTABLE,
                        GRANT WRITE TO "_creator",
                        GRANT CREATE TO "_icloud",
                        GRANT READ TO "_world"
                    );

                    RECORD TYPE Users (
                """
            ),
            "\(text)"
        )
        #expect(try self.schema(it, .production).recordTypes.map(\.name) == ["Users"])
    }

    @Test(arguments: EngineKind.allCases)
    func `whatever is imported is exported, also after another import and a restart`(
        kind: EngineKind
    ) async throws {
        var it = try EngineUnderTest(kind)
        var generator = SeededGenerator.fromEnvironment()
        print("schema import: SEED=\(generator.seed)")
        for _ in 0..<60 {
            let document = Self.document(using: &generator)
            let before = try self.schema(it, .development)
            let preview = try it.store.schemas.preview(
                .replaceDevelopment(document),
                inContainer: Self.container
            )
            let difference = try self.replace(it, document)
            let after = try self.schema(it, .development)
            #expect(after == SchemaRules.completed(document, from: before))
            #expect(difference == SchemaDifference(from: before, to: after))
            #expect(difference == preview)
            #expect(try self.replace(it, after).isEmpty)
        }
        let last = try self.schema(it, .development)
        it = try await it.reopened()
        #expect(try self.schema(it, .development) == last)
        #expect(try SchemaParser.parse(last.text) == last)
    }

    /// Some of the types there may be, with any of the indexes there may be.
    private static func document(using generator: inout some RandomNumberGenerator) -> SchemaDocument {
        var types: [DeclaredType] = [.number(preferred: nil)]
        types += [.number(preferred: .int64), .number(preferred: .double)]
        types += FieldType.allCases.filter { $0 != .emptyList && $0 != .clear }.map { .field($0) }
        func indexes(of type: DeclaredType, _ isEncrypted: Bool) -> IndexKinds {
            IndexKinds(rawValue: UInt8.random(in: 0..<8, using: &generator))
                .intersection(.permitted(for: type, isEncrypted: isEncrypted))
        }
        let recordTypes = ["A", "B", "Users"].filter { _ in Bool.random(using: &generator) }.map { name in
            var fields = types.enumerated().map { number, type in
                let isEncrypted = name == "A" && type == .field(.string) && Bool.random(using: &generator)
                return FieldDeclaration(
                    name: "f\(number)",
                    type: type,
                    isEncrypted: isEncrypted,
                    indexes: indexes(of: type, isEncrypted)
                )
            }
            // User records have fields that only grow: there are users.
            if name != "Users" {
                fields = fields.filter { _ in Int.random(in: 0..<4, using: &generator) > 0 }
            }
            for system in SystemField.inSchemas {
                let field = FieldDeclaration(system, indexes: indexes(of: .field(system.type), false))
                if !field.indexes.isEmpty { fields.append(field) }
            }
            return RecordTypeDefinition(
                name: name,
                fields: fields,
                grants: [Grant(role: "r", permissions: .read), Grant(role: "_creator", permissions: .write)]
            )
        }
        return SchemaDocument(roles: ["r", "s"], recordTypes: recordTypes)
    }

    @Test(arguments: EngineKind.allCases)
    func `saves are judged by what was imported`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        try self.replace(
            it,
            self.note("n NUMBER, i NUMBER PREFERRED AS INT64, s ENCRYPTED STRING, a ASSET, l LIST<ASSET>")
        )
        func error(_ field: String, _ value: FieldValue) async throws -> StoreError? {
            try await it.modify([save("a", [field: value])])[0].error
        }
        func mismatch(_ field: String, _ given: FieldType, _ defined: FieldType) -> StoreError {
            .fieldTypeMismatch(recordType: "Note", field: field, given: given, defined: defined)
        }
        #expect(try await error("n", .string("1")) == mismatch("n", .string, .double))
        #expect(try await error("i", .double(1)) == mismatch("i", .double, .int64))
        #expect(try await error("s", .string("x")) == .fieldEncryptionMismatch(field: "s"))
        #expect(try await error("a", .string("x")) == mismatch("a", .string, .asset))
        #expect(try await error("l", .string("x")) == mismatch("l", .string, .assetList))
        #expect(
            try await it.modify([save("a", ["n": .double(1), "i": .int64(1), "new": .int64(1)])]).areSaved
        )
        #expect(try await it.modify([save("b", ["n": .int64(1)])]).areSaved)
        let names = try #require(try self.schema(it, .development)["Note"]).fields.map(\.name)
        #expect(names == ["a", "i", "l", "n", "new", "s"])
    }

    @Test(arguments: EngineKind.allCases)
    func `fields and types that records have stay, others go`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([
            save("a", ["s": .string("x")]), save("b", type: "Other", ["s": .string("x")]),
        ])
        let other = "RECORD TYPE Other (s STRING);"
        #expect(throws: SchemaStoreError.inUse([.field("s", recordType: "Note")])) {
            try self.replace(it, self.parsed("RECORD TYPE Note (t STRING); \(other)"))
        }
        let retyped = SchemaLoss.fieldType("s", recordType: "Note", old: "STRING", new: "INT64")
        #expect(throws: SchemaStoreError.inUse([retyped])) {
            try self.replace(it, self.parsed("RECORD TYPE Note (s INT64); \(other)"))
        }
        #expect(throws: SchemaStoreError.inUse([.recordType("Note")])) {
            try self.replace(it, self.parsed(other))
        }
        let unchanged = try self.schema(it, .development)
        #expect(unchanged["Note"]?.fields.map(\.name).last == "s")
        _ = try await it.modify([], deletes: [id("a")])
        try self.replace(it, self.parsed("RECORD TYPE Note (s INT64); \(other)"))
        try self.replace(it, self.parsed(other))
        let listing = await withCheckedContinuation { continuation in
            let read = QueryRead(query: Query(recordType: "Note"))
            it.store.query(read, for: it.privately, into: KeptRecords()) {
                continuation.resume(returning: $0.map(\.count))
            }
        }
        #expect(listing == .failure(.recordTypeUnknown("Note")))
        // The first save makes the type again, with all that belongs to it.
        _ = try await it.modify([save("c", ["s": .int64(1)])])
        let made = try #require(try self.schema(it, .development)["Note"])
        #expect(made["s"]?.type == .field(.int64))
        #expect(made["___createTime"]?.indexes == [.queryable, .sortable])
        #expect(made.grants == SchemaRules.defaultGrants)
    }

    @Test(arguments: EngineKind.allCases)
    func `production takes what was deployed and nothing else`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        let production = try it.requester(in: .production)
        func errors(_ saves: RecordSave...) async throws -> [StoreError?] {
            try await it.modify(saves, policy: .changedKeys, isAtomic: false, by: production).map(\.error)
        }
        let note = save("a", in: .default, ["s": .string("x")])
        #expect(try await errors(note) == [.newTypeInProduction("Note")])
        #expect(try await errors(save("a", in: .default)) == [.newTypeInProduction("Note")])
        _ = try await it.modify([note])
        let difference = try self.deploy(it)
        #expect(difference.lines.first == .init(.added, isInner: false, "RECORD TYPE Note"))
        #expect(try self.schema(it, .production) == self.schema(it, .development))
        #expect(try await errors(note) == [nil])
        #expect(
            try await errors(
                save("a", in: .default, ["s": .string("y"), "u": .int64(1), "t": .int64(1)]),
                save("b", in: .default, ["s": .int64(1)]),
                save("c", in: .default, type: "Other"),
                save("d", in: .default, ["s": .string("z")])
            ) == [
                .newFieldInProduction(recordType: "Note", field: "t"),
                .fieldTypeMismatch(recordType: "Note", field: "s", given: .int64, defined: .string),
                .newTypeInProduction("Other"), nil,
            ]
        )
        #expect(try await it.record(id("a", in: .default), by: production)?["s"] == .string("x"))
        let user = RecordSave(
            id: id(EngineUnderTest.alice, in: .default),
            recordType: "Users",
            changes: RecordBody([Field(name: "nick", value: .string("al"))])
        )
        #expect(try await errors(user) == [.newFieldInProduction(recordType: "Users", field: "nick")])
        #expect(try self.deploy(it).isEmpty)
    }

    @Test(arguments: EngineKind.allCases)
    func `nothing of production is lost by a deploy or an import`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        try self.replace(it, self.note("s STRING QUERYABLE, t INT64"))
        try self.deploy(it)
        let refusal = SchemaStoreError.contradictsProduction([
            .fieldType("s", recordType: "Note", old: "STRING", new: "BYTES"),
            .field("t", recordType: "Note"),
        ])
        #expect(throws: refusal) { try self.replace(it, self.note("s BYTES")) }
        #expect(throws: SchemaStoreError.contradictsProduction([.recordType("Note")])) {
            try self.replace(it, SchemaDocument())
        }
        let grown = try self.note("s STRING SORTABLE, t INT64, u LOCATION")
        let preview = try it.store.schemas.preview(.replaceDevelopment(grown), inContainer: Self.container)
        #expect(!preview.isEmpty)
        #expect(try self.schema(it, .development) == self.schema(it, .production))
        #expect(try self.replace(it, grown) == preview)
        #expect(try it.store.schemas.preview(.deploy, inContainer: Self.container) == self.deploy(it))
        #expect(try self.schema(it, .production)["Note"]?["s"]?.indexes == .sortable)
    }

    @Test(arguments: EngineKind.allCases)
    func `a reset brings production's schema back and leaves no data`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        try self.replace(it, self.note("s STRING"))
        try self.deploy(it)
        let production = try it.requester(in: .production)
        #expect(try await it.modify([save("p", in: .default, ["s": .string("x")])], by: production).areSaved)
        let saved = try await it.modify([save("a"), save("b", in: .default, ["x": .int64(1)])])
        #expect(saved.areSaved)
        #expect(
            try await it.modify([save("c", in: .default, type: "Other", ["y": .int64(1)])], by: it.publicly)
                .areSaved
        )

        let difference = try it.store.schemas.apply(.resetDevelopment, inContainer: Self.container)
        #expect(
            difference.description
                == "~ RECORD TYPE Note\n    - x INT64 QUERYABLE SORTABLE\n- RECORD TYPE Other\n"
        )
        #expect(try self.schema(it, .development) == self.schema(it, .production))
        #expect(try await it.zones() == [.zone(Zone(id: .default, scope: .private))])
        #expect(try await it.modify([save("a")])[0].error == .zoneMissing)
        #expect(try await it.record(id("b", in: .default)) == nil)
        #expect(try await it.record(id("c", in: .default), by: it.publicly) == nil)
        #expect(try await it.record(id("p", in: .default), by: production) != nil)
        for requester in [it.privately, it.publicly] {
            #expect(try await it.record(id(EngineUnderTest.alice, in: .default), by: requester) != nil)
        }
        // Everybody goes on as before, with positions that ascend.
        let again = try await it.modify([save("b", in: .default, ["x": .string("now text")])])
        #expect(again.areSaved)
        let old = try #require(saved[1].tag.flatMap { Int64($0, radix: 36) })
        #expect(try #require(again[0].tag.flatMap { Int64($0, radix: 36) }) > old)
        #expect(try await it.modifyZones(["notes"]).count == 1)
        #expect(try await it.modify([save("a")]).areSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `an import that is refused changes nothing`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a", ["s": .string("x")])])
        let before = try self.schema(it, .development)
        let bad = try self.parsed(
            "CREATE ROLE r; RECORD TYPE A (f STRING, GRANT READ TO r); RECORD TYPE Note (f STRING);"
        )
        #expect(throws: SchemaStoreError.inUse([.field("s", recordType: "Note")])) {
            try self.replace(it, bad)
        }
        #expect(try self.schema(it, .development) == before)
    }
}
