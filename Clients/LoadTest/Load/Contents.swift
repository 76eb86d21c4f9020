import RecordModel

/// The content of a record: its version and identity, and padding up to a size.
///
///     payload   version, 8 bytes | worker, 4 bytes | key, 4 bytes | the same byte over and over
struct Contents: Hashable, Sendable {
    static let headerBytes = 16

    let version: UInt64
    let worker: UInt32
    let key: UInt32

    /// The fields of a record.
    ///
    /// Queries ask for the bucket. Without one no query finds the record. The payload has at least
    /// `headerBytes`.
    func body(bucket: Int64?, payloadBytes: Int, asset: Asset? = nil) -> RecordBody {
        var payload: [UInt8] = []
        payload.reserveCapacity(payloadBytes)
        for shift in stride(from: 56, through: 0, by: -8) {
            payload.append(UInt8(truncatingIfNeeded: self.version >> UInt64(shift)))
        }
        for number in [self.worker, self.key] {
            for shift in stride(from: 24, through: 0, by: -8) {
                payload.append(UInt8(truncatingIfNeeded: number >> UInt32(shift)))
            }
        }
        payload += repeatElement(self.filling, count: max(0, payloadBytes - Self.headerBytes))
        var fields = [Field(name: "payload", value: .bytes(payload))]
        if let asset { fields.append(Field(name: "file", value: .asset(asset))) }
        if let bucket { fields.append(Field(name: "bucket", value: .int64(bucket))) }
        return RecordBody(fields)
    }

    /// Reads fields back.
    ///
    /// Fails if they are not those that `body` makes.
    init?(_ body: RecordBody) {
        var payload: [UInt8]?
        for field in body.fields where field.name == "payload" {
            if case .bytes(let bytes) = field.value { payload = bytes }
        }
        guard let payload, payload.count >= Self.headerBytes else { return nil }
        let version = payload[0..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let numbers = payload[8..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self.init(
            version: version,
            worker: UInt32(truncatingIfNeeded: numbers >> 32),
            key: UInt32(truncatingIfNeeded: numbers)
        )
        let filling = self.filling
        guard payload[Self.headerBytes...].allSatisfy({ $0 == filling }) else { return nil }
    }

    init(version: UInt64, worker: UInt32, key: UInt32) {
        self.version = version
        self.worker = worker
        self.key = key
    }

    /// Differs between versions, so that a record with bytes of two versions is detected.
    private var filling: UInt8 { UInt8(truncatingIfNeeded: SplitMix64.mix(self.version ^ UInt64(self.key))) }
}
