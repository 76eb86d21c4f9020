import RecordModel
import TestSupport
import Testing

@Suite struct RecordBodyTests {
    @Test(arguments: FieldValue.samples.indices)
    func `a value of every type comes back as it was, and its bytes pass the check`(index: Int) throws {
        let value = FieldValue.samples[index]
        for isEncrypted in [false, true] {
            let field = Field(name: "field_1", value: value, isEncrypted: isEncrypted)
            let body = RecordBody([field])
            let checked = try RecordBody(checking: body.bytes, allowsClear: true)
            #expect(checked.fields == [field])
            #expect(RecordBody(checked.fields).bytes == body.bytes)
            let slice = try #require(checked.slices.first)
            #expect(checked.value(of: slice) == value)
            #expect(slice.type == value.type && slice.isEncrypted == isEncrypted)
            #expect(checked.name(of: slice) == "field_1")
        }
    }

    @Test func `fields are encoded in the order of the bytes of their names, the last of one name`() throws {
        let body = RecordBody([
            Field(name: "b", value: .int64(1)), Field(name: "a_", value: .int64(2)),
            Field(name: "Z", value: .int64(3)), Field(name: "a", value: .int64(4)),
            Field(name: "b", value: .int64(5)),
        ])
        #expect(body.fields.map(\.name) == ["Z", "a", "a_", "b"])
        #expect(body.fields.last?.value == .int64(5))
        _ = try RecordBody(checking: body.bytes, allowsClear: false)
    }

    @Test func `an invalid body decodes without a check, and the check refuses it`() {
        let body = RecordBody([
            Field(name: "number", value: .double(.infinity)),
            Field(name: "target", value: .reference(Reference(recordName: "", action: .none))),
        ])
        #expect(body.fields.first?.value == .double(.infinity))
        #expect(throws: BodyError.valueInvalid(field: "number")) {
            try RecordBody(checking: body.bytes, allowsClear: true)
        }
    }

    @Test func `every prefix of a body that is cut inside a field is refused`() throws {
        let names = (0..<FieldValue.samples.count).map { "f\($0 + 100)" }
        let body = RecordBody(
            zip(names, FieldValue.samples).filter { $1 != .bytes([UInt8](repeating: 0x55, count: 20_000)) }
                .map { Field(name: $0, value: $1) }
        )
        let ends = Set(body.slices.map(\.entry.upperBound) + [0])
        for length in 0...body.bytes.count {
            let prefix = Array(body.bytes[..<length])
            if ends.contains(length) {
                _ = try RecordBody(checking: prefix, allowsClear: true)
            } else {
                #expect(throws: BodyError.malformed) { try RecordBody(checking: prefix, allowsClear: true) }
            }
        }
    }

    @Test func `a changed byte is refused or makes another body with one encoding`() throws {
        var generator = SeededGenerator(seed: 7)
        let names = (0..<FieldValue.samples.count).map { "f\($0 + 100)" }
        let original = RecordBody(zip(names, FieldValue.samples).map { Field(name: $0, value: $1) }).bytes
        var accepted = 0
        for _ in 0..<3_000 {
            var bytes = original
            bytes[Int.random(in: 0..<3_000, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            guard let body = try? RecordBody(checking: bytes, allowsClear: true) else { continue }
            accepted += 1
            #expect(RecordBody(body.fields).bytes == bytes)
        }
        #expect(accepted > 100)
    }

    @Test(arguments: [999, 1_000, 1_001])
    func `a body has at most 1,000 fields`(count: Int) {
        let body = RecordBody((0..<count).map { Field(name: "f\($0)", value: .int64(1)) })
        if count <= Bounds.fieldsMax {
            #expect(throws: Never.self) { try RecordBody(checking: body.bytes, allowsClear: false) }
        } else {
            #expect(throws: BodyError.tooManyFields) {
                try RecordBody(checking: body.bytes, allowsClear: false)
            }
        }
    }

    @Test(arguments: [10_000, 10_001])
    func `a list has at most 10,000 elements`(count: Int) {
        let lists: [FieldValue] = [
            .stringList(Array(repeating: "", count: count)), .int64List(Array(repeating: 0, count: count)),
            .doubleList(Array(repeating: 0, count: count)),
            .timestampList(Array(repeating: 0, count: count)), .bytesList(Array(repeating: [], count: count)),
            .locationList(Array(repeating: Location(latitude: 0, longitude: 0), count: count)),
            .referenceList(Array(repeating: Reference(recordName: "a", action: .none), count: count)),
        ]
        for list in lists {
            let body = RecordBody([Field(name: "list", value: list)])
            if count <= Bounds.listElementsMax {
                #expect(throws: Never.self) { try RecordBody(checking: body.bytes, allowsClear: false) }
            } else {
                #expect(throws: BodyError.tooManyElements(field: "list")) {
                    try RecordBody(checking: body.bytes, allowsClear: false)
                }
            }
        }
    }

    @Test func `clear stands in a save only`() throws {
        let body = RecordBody([Field(name: "gone", value: .clear)])
        _ = try RecordBody(checking: body.bytes, allowsClear: true)
        #expect(throws: BodyError.clearNotAllowed(field: "gone")) {
            try RecordBody(checking: body.bytes, allowsClear: false)
        }
    }

    @Test func `a field name of 255 bytes is one, of 256 is none`() throws {
        for (count, isName) in [(255, true), (256, false), (0, false)] {
            let name = String(repeating: "n", count: count)
            let bytes = RecordBody([Field(name: name, value: .int64(1))]).bytes
            if isName {
                _ = try RecordBody(checking: bytes, allowsClear: false)
            } else {
                #expect(throws: BodyError.fieldNameInvalid(name)) {
                    try RecordBody(checking: bytes, allowsClear: false)
                }
            }
        }
    }
}
