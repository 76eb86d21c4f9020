import RecordModel
import TestSupport
import Testing

/// Bodies as a failing disk gives them back.
struct DamagedBodyTests {
    @Test
    func `a body whose bits are flipped can be read, or is known to be damaged`() {
        var generator = SeededGenerator.fromEnvironment()
        let body = RecordBody(
            FieldValue.samples.enumerated().map { Field(name: "f\($0.offset + 100)", value: $0.element) }
        )
        #expect(body.isIntact)
        var damagedCount = 0
        for _ in 0..<3_000 {
            var bytes = body.bytes
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                let offset = Int.random(in: bytes.indices, using: &generator)
                bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            let flipped = RecordBody(trusted: bytes)
            let fields = flipped.fields
            if flipped.isIntact {
                #expect(flipped.intact(keeping: ["f101"]) != nil)
                #expect(fields.count == flipped.slices.count)
            } else {
                damagedCount += 1
            }
            _ = flipped.merging(body)
            _ = body.merging(flipped)
        }
        #expect(damagedCount > 0)
    }

    @Test
    func `a body is intact up to its last byte`() {
        let body = RecordBody([
            Field(name: "a", value: .string("text")), Field(name: "b", value: .int64List([1, 2])),
        ])
        #expect(body.isIntact && RecordBody.empty.isIntact)
        for count in 1..<body.bytes.count {
            let cut = RecordBody(trusted: Array(body.bytes.prefix(count)))
            #expect(cut.isIntact == (cut.bytes.count == body.slices[0].entry.upperBound))
        }
        #expect(!RecordBody(trusted: body.bytes + body.bytes).isIntact)
        #expect(RecordBody(trusted: [0xFF, 0xFF]).intact(keeping: ["a"]) == nil)
    }
}
