import StorageContract

/// The end of a page, as bytes that survive a restart.
///
///     position = version kind choices signature rest     integers and texts as in `CompactBytes`
///     kind     = 1 (in the order of the source) / 2 (in the order of the sort keys)
///     rest     = zone branch point                       kind 1
///     point    = 0 / 1 number / 2 number value           start; from a number; after an entry
///     rest     = count *( 0 / 1 value ) name zone        kind 2; name and zone: 0 / 1 text
struct QueryPosition: Hashable, Sendable {
    enum Point: Hashable, Sendable {
        case start
        /// The next record number to read.
        case number(Int64)
        /// The last entry that was read.
        case entry(EntryPosition)
    }

    enum Order: Hashable, Sendable {
        /// In a zone, and there in a branch of the source. A branch behind the last one is the end
        /// of the zone.
        case source(zone: String, branch: Int, Point)
        case sorted(SortEnd?)
    }

    /// The planner's choices on the first page.
    var choices: [Int]
    /// Signature of the source, which must be the same on every page.
    var signature: Int64
    var order: Order

    private static let version: UInt8 = 1
    private static let choicesMax = 1_000
    private static let bytesMax = IndexValue.bytesMax

    init(choices: [Int], signature: Int64, order: Order) {
        self.choices = choices
        self.signature = signature
        self.order = order
    }

    var bytes: [UInt8] {
        var bytes = CompactBytes()
        bytes.append(byte: Self.version)
        switch self.order {
        case .source: bytes.append(byte: 1)
        case .sorted: bytes.append(byte: 2)
        }
        bytes.append(self.choices.map { Int64($0) })
        bytes.append(self.signature)
        switch self.order {
        case .source(let zone, let branch, let position):
            bytes.append(zone)
            bytes.append(Int64(branch))
            switch position {
            case .start: bytes.append(byte: 0)
            case .number(let number):
                bytes.append(byte: 1)
                bytes.append(number)
            case .entry(let entry):
                bytes.append(byte: 2)
                bytes.append(entry.record)
                bytes.append(entry.value)
            }
        case .sorted(let end):
            bytes.append(end?.keys.count ?? 0)
            for key in end?.keys ?? [] { bytes.append(optional: key) }
            bytes.append(optional: end?.name.map { Array($0.utf8) })
            bytes.append(optional: end?.zone.map { Array($0.utf8) })
        }
        return bytes.bytes
    }

    /// Decodes untrusted bytes.
    init(_ encoded: [UInt8]) throws(StoreError) {
        var bytes = CompactBytes(encoded)
        guard bytes.nextByte() == Self.version, let kind = bytes.nextByte(),
            let choices = bytes.nextIntegers(), choices.count <= Self.choicesMax,
            let signature = bytes.nextInteger()
        else { throw .cursorInvalid }
        self.choices = choices.map { Int(truncatingIfNeeded: $0) }
        self.signature = signature
        switch kind {
        case 1: self.order = try Self.source(&bytes)
        case 2: self.order = try Self.sorted(&bytes)
        default: throw .cursorInvalid
        }
        guard bytes.nextByte() == nil else { throw .cursorInvalid }
    }

    private static func source(_ bytes: inout CompactBytes) throws(StoreError) -> Order {
        guard let zone = bytes.nextText(), let branch = bytes.nextInteger(), (0...1_000_000).contains(branch),
            let kind = bytes.nextByte()
        else { throw .cursorInvalid }
        switch kind {
        case 0: return .source(zone: zone, branch: Int(branch), .start)
        case 1:
            guard let number = bytes.nextInteger() else { throw .cursorInvalid }
            return .source(zone: zone, branch: Int(branch), .number(number))
        case 2:
            guard let record = bytes.nextInteger(), let value = bytes.nextBytes(atMost: self.bytesMax) else {
                throw .cursorInvalid
            }
            return .source(
                zone: zone,
                branch: Int(branch),
                .entry(EntryPosition(value: value, record: record))
            )
        default: throw .cursorInvalid
        }
    }

    private static func sorted(_ bytes: inout CompactBytes) throws(StoreError) -> Order {
        guard let count = bytes.nextInteger(), (0...100).contains(count) else { throw .cursorInvalid }
        var keys: [[UInt8]?] = []
        for _ in 0..<count { keys.append(try bytes.nextOptional(atMost: self.bytesMax)) }
        let name = try bytes.nextOptional(atMost: self.bytesMax)
        let zone = try bytes.nextOptional(atMost: self.bytesMax)
        if keys.isEmpty {
            guard name == nil, zone == nil else { throw .cursorInvalid }
            return .sorted(nil)
        }
        return .sorted(
            SortEnd(
                keys: keys,
                name: name.map { String(decoding: $0, as: UTF8.self) },
                zone: zone.map { String(decoding: $0, as: UTF8.self) }
            )
        )
    }
}

extension CompactBytes {
    fileprivate mutating func append(_ count: Int) { self.append(Int64(count)) }

    fileprivate mutating func append(_ bytes: [UInt8]) {
        self.append(bytes.count)
        for byte in bytes { self.append(byte: byte) }
    }

    fileprivate mutating func append(optional bytes: [UInt8]?) {
        self.append(byte: bytes == nil ? 0 : 1)
        if let bytes { self.append(bytes) }
    }

    fileprivate mutating func nextBytes(atMost bytesMax: Int) -> [UInt8]? {
        guard let count = self.nextInteger(), (0...Int64(bytesMax)).contains(count) else { return nil }
        var bytes: [UInt8] = []
        for _ in 0..<count {
            guard let byte = self.nextByte() else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    fileprivate mutating func nextOptional(atMost bytesMax: Int) throws(StoreError) -> [UInt8]? {
        switch self.nextByte() {
        case 0: return nil
        case 1:
            guard let bytes = self.nextBytes(atMost: bytesMax) else { throw .cursorInvalid }
            return bytes
        default: throw .cursorInvalid
        }
    }
}
