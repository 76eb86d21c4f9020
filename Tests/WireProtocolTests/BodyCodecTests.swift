import Foundation
import RecordModel
import SwiftProtobuf
import TestSupport
import Testing
import WireProtocol

/// Bodies against the generated code for the same message, as the other codec.
@Suite struct BodyCodecTests {
    @Test(arguments: [11, 12, 13] as [UInt64])
    func `a body and the generated message are one encoding`(seed: UInt64) throws {
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let message = Self.message(using: &generator)
            let bytes: [UInt8] = try message.serializedBytes()
            let body = try RecordBody(checking: bytes, allowsClear: true)
            try #require(RecordBody(body.fields).bytes == bytes, "seed \(seed)")
            let again = try PBRecordFields(serializedBytes: RecordBody(body.fields).bytes)
            try #require(again == message, "seed \(seed)")
        }
    }

    @Test func `values mean the same on both sides`() throws {
        var message = PBRecordFields()
        message.fields = [
            Self.field("a", .int64(-5)), Self.field("b", .timestamp(1.5)),
            Self.field(
                "c",
                .reference(
                    .with {
                        $0.recordName = "r"; $0.action = .validate
                    }
                )
            ),
            Self.field("d", .location(.with { $0.longitude = -7 })), Self.field("e", .clear(true)),
        ]
        let body = try RecordBody(checking: try message.serializedBytes(), allowsClear: true)
        #expect(
            body.fields.map(\.value) == [
                .int64(-5), .timestamp(1.5), .reference(Reference(recordName: "r", action: .validate)),
                .location(Location(latitude: 0, longitude: -7)), .clear,
            ]
        )
    }

    private static func field(
        _ name: String,
        _ value: PBField.OneOf_Value,
        isEncrypted: Bool = false
    ) -> PBField {
        var field = PBField()
        field.name = name
        field.value = value
        field.encrypted = isEncrypted
        return field
    }

    private static func message(using generator: inout SeededGenerator) -> PBRecordFields {
        var message = PBRecordFields()
        let names = Set((0..<6).map { _ in "f\(UInt8.random(in: 0...99, using: &generator))" }).sorted()
        for name in names {
            let value = self.value(using: &generator)
            message.fields.append(
                self.field(name, value, isEncrypted: Bool.random(using: &generator))
            )
        }
        return message
    }

    private static func value(using generator: inout SeededGenerator) -> PBField.OneOf_Value {
        let count = Int.random(in: 0...200, using: &generator)
        let integers = (0..<count).map { _ in
            Int64(truncatingIfNeeded: generator.next()) >> Int64.random(in: 0...63, using: &generator)
        }
        let doubles = integers.map { Double($0) / 3 }
        let text = String(integers.map { Character(UnicodeScalar(UInt8(truncatingIfNeeded: $0))) })
        let bytes = Data(integers.map { UInt8(truncatingIfNeeded: $0) })
        let place = PBLocation.with {
            $0.latitude = Double.random(in: -90...90, using: &generator)
            $0.speed = doubles.first ?? 0
            $0.timestamp = doubles.last ?? 0
        }
        let target = PBReference.with {
            $0.recordName = "r\(count)"
            if count % 2 == 0 { $0.zone.zoneName = "zone" }
            if count % 3 == 0 { $0.action = .deleteSelf }
        }
        let values: [PBField.OneOf_Value] = [
            .string(text), .int64(integers.first ?? 0), .double(doubles.first ?? 0),
            .timestamp(doubles.last ?? 0), .bytes(bytes), .location(place), .reference(target),
            .stringList(.with { $0.values = [text, "", "ä"] }), .int64List(.with { $0.values = integers }),
            .doubleList(.with { $0.values = doubles }), .timestampList(.with { $0.values = doubles }),
            .bytesList(.with { $0.values = [bytes, Data()] }),
            .locationList(.with { $0.values = [place, PBLocation()] }),
            .referenceList(.with { $0.values = [target, target] }), .emptyList(true), .clear(true),
        ]
        return values[Int.random(in: 0..<values.count, using: &generator)]
    }
}
