import RecordModel

/// Noise in the form of single values: of the same type and length, and equal for equal values.
///
/// Different texts and integers stay different.
struct ScrambledValues: Sendable {
    let key: ScrambleKey
    /// Added to each date, which preserves their order and distances.
    let shiftSeconds: Int64

    private enum Domain: UInt64 {
        case text = 1
        case integer
        case bytes
        case user
        case shift
        case asset
        case location
    }

    init(key: ScrambleKey) {
        self.key = key
        // Up to four years back, at least a month.
        let days = 30 + Noise(key, Domain.shift.rawValue).value % 1_430
        self.shiftSeconds = -Int64(days) * 86_400
    }

    // MARK: Texts

    /// Replaces each character by one of its kind and length, which depends on the characters
    /// before it.
    ///
    /// Blanks and punctuation are kept. Texts with a common prefix keep one.
    func text(_ text: String) -> String {
        var noise = Noise(self.key, Domain.text.rawValue)
        var scrambled = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scrambled.append(Self.scalar(like: scalar, noise.value))
            noise.absorb(UInt64(scalar.value))
        }
        return String(scrambled)
    }

    /// Rotates a character within its kind, by a number of steps.
    private static func scalar(like scalar: Unicode.Scalar, _ steps: UInt64) -> Unicode.Scalar {
        func turned(_ range: ClosedRange<UInt32>) -> Unicode.Scalar {
            let count = UInt64(range.upperBound - range.lowerBound + 1)
            let offset = (UInt64(scalar.value - range.lowerBound) + steps % count) % count
            return Unicode.Scalar(range.lowerBound + UInt32(offset)) ?? scalar
        }
        switch scalar.value {
        case 0x30...0x39: return turned(0x30...0x39)
        case 0x41...0x5A: return turned(0x41...0x5A)
        case 0x61...0x7A: return turned(0x61...0x7A)
        case 0xA0...0x7FF: return turned(0xA0...0x7FF)
        case 0x800...0xD7FF: return turned(0x800...0xD7FF)
        case 0xE000...0xFFFD: return turned(0xE000...0xFFFD)
        case 0x1_0000...0x10_FFFF: return turned(0x1_0000...0x10_FFFF)
        default: return scalar
        }
    }

    /// The name of a record: a user's record name stays a valid one.
    func name(_ name: String) -> String {
        if NameRules.isUserRecordName(name) { return self.user(name) }
        return name == ShareRecord.zoneWideName ? name : self.text(name)
    }

    /// A user record name; other names are scrambled as text.
    func user(_ name: String) -> String {
        guard NameRules.isUserRecordName(name) else { return self.text(name) }
        var noise = Noise(self.key, Domain.user.rawValue)
        noise.absorb(Array(name.utf8))
        return "_" + noise.bytes(16).hexadecimal
    }

    func zone(_ name: String) -> String { name == ZoneID.defaultZoneName ? name : self.text(name) }

    // MARK: Numbers

    /// Keeps the sign and the number of bits: 0, 1 and −1 stay, as they are usually booleans.
    func integer(_ value: Int64) -> Int64 {
        let magnitude = value.magnitude
        guard magnitude > 1, magnitude < 1 << 63 else { return value }
        let bits = UInt64(63 - magnitude.leadingZeroBitCount)
        let top = UInt64(1) << bits
        let scrambled = Int64(top | self.mixed(magnitude ^ top, bits: bits))
        return value < 0 ? -scrambled : scrambled
    }

    /// Keeps the sign and the power of two; an integral number stays integral.
    func double(_ value: Double) -> Double {
        if value == value.rounded(), value.magnitude < 9_007_199_254_740_992 {
            return value == 0 ? value : Double(self.integer(Int64(value)))
        }
        let low = value.bitPattern & (1 << 52 - 1)
        return Double(bitPattern: value.bitPattern ^ low | self.mixed(low, bits: 52))
    }

    /// A permutation of the numbers with this many bits.
    private func mixed(_ value: UInt64, bits: UInt64) -> UInt64 {
        guard bits > 0 else { return 0 }
        let mask = (UInt64(1) << bits) - 1
        var value = value
        for round in UInt64(0)..<4 {
            var noise = Noise(self.key, Domain.integer.rawValue)
            noise.absorb(bits << 8 | round)
            value = (value &* (noise.value | 1)) & mask
            noise.absorb(1)
            value = (value &+ noise.value) & mask
            value ^= value >> (bits / 2 + 1)
        }
        return value
    }

    func date(_ seconds: Double) -> Double { seconds + Double(self.shiftSeconds) }

    func milliseconds(_ milliseconds: Int64) -> Int64 {
        milliseconds == 0 ? 0 : milliseconds &+ self.shiftSeconds * 1_000
    }

    func location(_ location: Location) -> Location {
        var noise = Noise(self.key, Domain.location.rawValue)
        noise.absorb(location.latitude.bitPattern)
        noise.absorb(location.longitude.bitPattern)
        func angle(_ limit: Double) -> Double {
            noise.absorb(1)
            return Double(noise.value >> 11) / 9_007_199_254_740_992 * 2 * limit - limit
        }
        var scrambled = Location(latitude: angle(90), longitude: angle(180))
        scrambled.altitude = self.double(location.altitude)
        scrambled.horizontalAccuracy = self.double(location.horizontalAccuracy)
        scrambled.verticalAccuracy = self.double(location.verticalAccuracy)
        scrambled.course = self.double(location.course)
        scrambled.speed = self.double(location.speed)
        scrambled.timestamp = location.timestamp == 0 ? 0 : self.date(location.timestamp)
        return scrambled
    }

    // MARK: Bytes

    func bytes(_ bytes: [UInt8]) -> [UInt8] {
        var noise = Noise(self.key, Domain.bytes.rawValue)
        noise.absorb(bytes)
        return noise.bytes(bytes.count)
    }

    /// The noise that replaces an asset's bytes.
    func noise(of asset: Asset) -> Noise {
        var noise = Noise(self.key, Domain.asset.rawValue)
        noise.absorb(asset.sha256)
        return noise
    }
}
