import RecordModel
import RecordStore
import StorageContract
import Testing

struct SchemaTests {
    private static func definitions(
        _ fields: [Field],
        given defined: [String: FieldDefinition] = [:],
        scope: DatabaseScope = .private
    ) throws(StoreError) -> [String: FieldDefinition] {
        var known = FieldDefinitions()
        for (field, definition) in defined { known.define(definition, field: field) }
        return try Schema.definitions(neededFor: RecordBody(fields), ofType: "T", given: known, scope: scope)
    }

    @Test
    func `what is not defined yet is needed, what is defined is not`() throws {
        let fields = [Field(name: "a", value: .int64(1)), Field(name: "b", value: .string(""))]
        let known = FieldDefinition(type: .string, isEncrypted: false)
        #expect(
            try Self.definitions(fields, given: ["b": known])
                == ["a": FieldDefinition(type: .int64, isEncrypted: false, indexes: [.queryable, .sortable])]
        )
    }

    @Test
    func `removing a field says nothing about its type`() throws {
        let known = FieldDefinition(type: .string, isEncrypted: true)
        #expect(try Self.definitions([Field(name: "a", value: .clear)]).isEmpty)
        #expect(try Self.definitions([Field(name: "a", value: .clear)], given: ["a": known]).isEmpty)
    }

    @Test(arguments: FieldType.allCases)
    func `an empty list agrees with lists alone`(type: FieldType) throws {
        let known = ["a": FieldDefinition(type: type, isEncrypted: false)]
        let field = [Field(name: "a", value: .emptyList)]
        if type.isList {
            #expect(try Self.definitions(field, given: known).isEmpty)
        } else {
            let mismatch = StoreError.fieldTypeMismatch(
                recordType: "T",
                field: "a",
                given: .emptyList,
                defined: type
            )
            #expect(throws: mismatch) { try Self.definitions(field, given: known) }
        }
    }

    @Test
    func `what is encrypted stays so and is never public, a reference, an asset or an empty list`() throws {
        let secret = Field(name: "a", value: .int64(1), isEncrypted: true)
        #expect(try Self.definitions([secret]) == ["a": FieldDefinition(type: .int64, isEncrypted: true)])
        let plain = ["a": FieldDefinition(type: .int64, isEncrypted: false)]
        #expect(throws: StoreError.fieldEncryptionMismatch(field: "a")) {
            try Self.definitions([secret], given: plain)
        }
        #expect(throws: StoreError.fieldEncryptionNotAllowed(field: "a")) {
            try Self.definitions([secret], scope: .public)
        }
        let pointer = Reference(recordName: "x", action: .none)
        let file = Asset(sha256: [UInt8](repeating: 1, count: 32), size: 1)
        for value in [
            FieldValue.reference(pointer), .referenceList([pointer]), .asset(file), .assetList([file]),
            .emptyList,
        ] {
            #expect(throws: StoreError.fieldEncryptionNotAllowed(field: "a")) {
                try Self.definitions([Field(name: "a", value: value, isEncrypted: true)])
            }
        }
    }
}
