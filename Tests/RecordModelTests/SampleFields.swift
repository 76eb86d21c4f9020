import RecordModel
import TestSupport

extension FieldValue {
    /// Values of every type, with the boundaries of each.
    static let samples: [FieldValue] = {
        var place = Location(latitude: 90, longitude: -180)
        place.altitude = -0.5
        place.horizontalAccuracy = -1
        place.verticalAccuracy = 0.1
        place.course = 359.9
        place.speed = .leastNonzeroMagnitude
        place.timestamp = 1e9
        let nowhere = Location(latitude: 0, longitude: 0)
        let plain = Reference(recordName: "a", action: .none)
        let zoned = Reference(
            recordName: String(repeating: "n", count: 255),
            zone: ZoneID(zoneName: "notes", ownerName: "_0123456789abcdef0123456789abcdef"),
            action: .deleteSelf
        )
        let user = Reference(
            recordName: "_0123456789abcdef0123456789abcdef",
            zone: .default,
            action: .validate
        )
        return [
            .string(""), .string("a"), .string("Grüße, 世界 🌊\u{0}"),
            .string(String(repeating: "x", count: 200)),
            .int64(0), .int64(-1), .int64(.max), .int64(.min), .int64(63), .int64(64), .int64(-65),
            .double(0), .double(-0.0), .double(.greatestFiniteMagnitude), .double(.leastNonzeroMagnitude),
            .timestamp(0), .timestamp(-978_307_200), .timestamp(794_534_400.123_456),
            .bytes([]), .bytes([0]), .bytes([UInt8](repeating: 0xFF, count: 127)),
            .bytes([UInt8](repeating: 0xAA, count: 128)), .bytes([UInt8](repeating: 0x55, count: 20_000)),
            .location(place), .location(nowhere),
            .reference(plain), .reference(zoned), .reference(user),
            .stringList([]), .stringList(["", "é", "b"]),
            .int64List([]), .int64List([0, .min, .max]),
            .doubleList([]), .doubleList([1.5, -0.0]),
            .timestampList([]), .timestampList([0, 1]),
            .bytesList([]), .bytesList([[], [1, 2]]),
            .locationList([]), .locationList([nowhere, place]),
            .referenceList([]), .referenceList([plain, zoned, user]),
            .emptyList, .clear,
        ]
    }()

    static func random(using generator: inout SeededGenerator) -> FieldValue {
        self.samples.randomElement(using: &generator) ?? .emptyList
    }
}
