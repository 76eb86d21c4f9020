import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// What a save names that it did not name before.
struct AssetChangesTests {
    private static func file(_ number: UInt8, size: Int64 = 1) -> Asset {
        Asset(sha256: [UInt8](repeating: number, count: Asset.hashBytes), size: size)
    }

    private static func body(_ fields: [String: FieldValue]) -> RecordBody {
        RecordBody(fields.map { Field(name: $0.key, value: $0.value) })
    }

    @Test func `an asset is added with the first field that names it, once`() {
        let new = Self.body([
            "b": .asset(Self.file(1)), "a": .assetList([Self.file(2), Self.file(1), Self.file(2)]),
            "c": .string("x"),
        ])
        let changes = AssetChanges(from: nil, to: new)
        #expect(changes.added.map(\.asset) == [Self.file(2), Self.file(1)])
        #expect(changes.added.map(\.field) == ["a", "a"])
        #expect(changes.removed.isEmpty)
    }

    @Test func `what moves from one field to another is neither added nor removed`() {
        let old = Self.body(["a": .asset(Self.file(1)), "b": .asset(Self.file(2))])
        let new = Self.body(["b": .assetList([Self.file(1), Self.file(3)])])
        let changes = AssetChanges(from: old, to: new)
        #expect(changes.added.map(\.asset) == [Self.file(3)])
        #expect(changes.removed == [Self.file(2)])
        #expect(AssetChanges(from: new, to: new) == .none)
    }

    @Test func `the size is a part of the name`() {
        let old = Self.body(["a": .asset(Self.file(1))])
        let new = Self.body(["a": .asset(Self.file(1, size: 2))])
        let changes = AssetChanges(from: old, to: new)
        #expect(changes.added.map(\.asset) == [Self.file(1, size: 2)])
        #expect(changes.removed == [Self.file(1)])
    }

    @Test func `types without fields of assets have none`() {
        var fields = FieldDefinitions()
        fields.define(FieldDefinition(type: .string, isEncrypted: false), field: "s")
        #expect(!fields.hasAssets)
        fields.define(FieldDefinition(type: .assetList, isEncrypted: false), field: "l")
        #expect(fields.hasAssets)
    }
}
