import Foundation

/// The measurements of a location.
struct Measurement {
    var coordinate: CLLocationCoordinate2D
    var altitude: Double
    var horizontalAccuracy: Double
    var verticalAccuracy: Double
    var course: Double
    var courseAccuracy: Double
    var speed: Double
    var speedAccuracy: Double
    var timestamp: Date
}

/// The measurement in an archive: ten numbers of eight bytes, the most significant first, under one
/// key, in the order of `numbers`.
extension Measurement {
    private static let key = "CLLocationMeasurement"
    private static let bytesPerNumber = 8
    private static let numbersCount = 10

    private var numbers: [Double] {
        [
            self.coordinate.latitude, self.coordinate.longitude, self.altitude, self.horizontalAccuracy,
            self.verticalAccuracy, self.course, self.courseAccuracy, self.speed, self.speedAccuracy,
            self.timestamp.timeIntervalSinceReferenceDate,
        ]
    }

    func encode(with coder: NSCoder) {
        let bytes = self.numbers.flatMap { number in
            (0..<Self.bytesPerNumber).map { UInt8(truncatingIfNeeded: number.bitPattern >> (56 - 8 * $0)) }
        }
        coder.encodeBytes(bytes, length: bytes.count, forKey: Self.key)
    }

    init?(_ coder: NSCoder) {
        guard let bytes = Self.bytes(coder), bytes.count == Self.bytesPerNumber * Self.numbersCount else {
            return nil
        }
        let numbers = stride(from: 0, to: bytes.count, by: Self.bytesPerNumber).map { start in
            let bits = bytes[start..<start + Self.bytesPerNumber].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Double(bitPattern: bits)
        }
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: numbers[0], longitude: numbers[1]),
            altitude: numbers[2],
            horizontalAccuracy: numbers[3],
            verticalAccuracy: numbers[4],
            course: numbers[5],
            courseAccuracy: numbers[6],
            speed: numbers[7],
            speedAccuracy: numbers[8],
            timestamp: Date(timeIntervalSinceReferenceDate: numbers[9])
        )
    }

    private static func bytes(_ coder: NSCoder) -> [UInt8]? {
        // Reading an absent key would fail the whole archive, not just this object. The value is
        // plain bytes, not `NSData`, because an object of another class in its place would end the
        // program.
        guard coder.allowsKeyedCoding, coder.containsValue(forKey: self.key) else { return nil }
        // SAFETY: the bytes are copied before the call returns.
        return coder.withDecodedUnsafeBufferPointer(forKey: self.key) { $0.map { Array($0) } }
    }
}
