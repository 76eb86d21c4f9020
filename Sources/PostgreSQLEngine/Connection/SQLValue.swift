/// A parameter of a statement, which travels in PostgreSQL's binary form.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    case integers([Int64?])
    case texts([String?])
    case byteStrings([[UInt8]?])

    static func count(_ number: Int) -> SQLValue { .integer(Int64(number)) }

    /// The numbers of types in `pg_type`, which arrays carry.
    private enum TypeNumber {
        static let bytes: Int32 = 17
        static let integer: Int32 = 20
        static let text: Int32 = 25
    }

    /// The bytes that the value takes, or some more.
    fileprivate var bytesMax: Int {
        switch self {
        case .null: 0
        case .integer: 8
        case .text(let text): text.utf8.count
        case .bytes(let value): value.count
        case .integers(let numbers): Self.arrayBytes + 12 * numbers.count
        case .texts(let texts): texts.reduce(Self.arrayBytes) { $0 + 4 + ($1?.utf8.count ?? 0) }
        case .byteStrings(let values): values.reduce(Self.arrayBytes) { $0 + 4 + ($1?.count ?? 0) }
        }
    }

    /// The header of an array, before its elements.
    private static let arrayBytes = 20

    /// Appends the value; returns false if it is null and has no bytes.
    func append(to bytes: inout [UInt8]) -> Bool {
        switch self {
        case .null: return false
        case .integer(let number): Self.append(number, to: &bytes)
        case .text(let text): bytes.append(contentsOf: text.utf8)
        case .bytes(let value): bytes.append(contentsOf: value)
        case .integers(let numbers):
            Self.append(numbers, of: TypeNumber.integer, to: &bytes) { number, bytes in
                Self.append(Int32(8), to: &bytes)
                Self.append(number, to: &bytes)
            }
        case .texts(let texts):
            Self.append(texts, of: TypeNumber.text, to: &bytes) { text, bytes in
                Self.append(Int32(text.utf8.count), to: &bytes)
                bytes.append(contentsOf: text.utf8)
            }
        case .byteStrings(let values):
            Self.append(values, of: TypeNumber.bytes, to: &bytes) { value, bytes in
                Self.append(Int32(value.count), to: &bytes)
                bytes.append(contentsOf: value)
            }
        }
        return true
    }

    /// An array: dimensions, whether there are nulls, type, then length and lower bound, and each element
    /// behind its size, which is -1 for null.
    private static func append<Element>(
        _ elements: [Element?],
        of type: Int32,
        to bytes: inout [UInt8],
        _ append: (Element, inout [UInt8]) -> Void
    ) {
        Self.append(Int32(elements.isEmpty ? 0 : 1), to: &bytes)
        Self.append(Int32(elements.contains { $0 == nil } ? 1 : 0), to: &bytes)
        Self.append(type, to: &bytes)
        guard !elements.isEmpty else { return }
        Self.append(Int32(elements.count), to: &bytes)
        Self.append(Int32(1), to: &bytes)
        for element in elements {
            if let element { append(element, &bytes) } else { Self.append(Int32(-1), to: &bytes) }
        }
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        // SAFETY: the bytes are copied before the call returns.
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

/// Parameters as libpq takes them: one buffer, and where each begins.
struct EncodedParameters {
    private var bytes: [UInt8] = []
    /// `nil` for null.
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []

    init(_ values: [SQLValue]) {
        self.bytes.reserveCapacity(1 + values.reduce(0) { $0 + $1.bytesMax })
        self.offsets.reserveCapacity(values.count)
        self.lengths.reserveCapacity(values.count)
        for value in values {
            let start = self.bytes.count
            let isThere = value.append(to: &self.bytes)
            self.offsets.append(isThere ? start : nil)
            self.lengths.append(Int32(self.bytes.count - start))
        }
        // A buffer with nothing in it may have no address.
        self.bytes.append(0)
    }

    var count: Int { self.bytes.count }

    /// Calls a function with pointers that are valid until it returns.
    // SAFETY: libpq copies the parameters into its own buffer before it returns.
    func withPointers<Value>(
        _ body: (
            _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) -> Value
    ) -> Value {
        let formats = [Int32](repeating: 1, count: self.lengths.count)
        // SAFETY: as above; every offset is within the buffer.
        return self.bytes.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            let values = self.offsets.map { offset in offset.flatMap { offset in start.map { $0 + offset } } }
            return values.withUnsafeBufferPointer { values in
                self.lengths.withUnsafeBufferPointer { lengths in
                    formats.withUnsafeBufferPointer { formats in
                        body(
                            Int32(values.count),
                            values.baseAddress,
                            lengths.baseAddress,
                            formats.baseAddress
                        )
                    }
                }
            }
        }
    }
}
