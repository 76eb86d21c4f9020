// Variable-length integers: seven bits a byte, the least significant first.
extension UInt64 {
    /// Bytes of the shortest encoding: 1 to 10.
    @inlinable package var varintBytes: Int {
        self < 0x80 ? 1 : (UInt64.bitWidth - self.leadingZeroBitCount + 6) / 7
    }

    /// Passes on the bytes of the shortest encoding in order.
    @inlinable
    @inline(__always)
    package func forEachVarintByte(_ put: (UInt8) -> Void) {
        var rest = self
        while rest >= 0x80 {
            put(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        put(UInt8(truncatingIfNeeded: rest))
    }
}

extension Int64 {
    /// The integer with this zigzag encoding, in which small negative numbers are short too.
    @inlinable
    package init(zigzag value: UInt64) {
        self = Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    @inlinable package var zigzag: UInt64 { UInt64(bitPattern: self << 1 ^ self >> 63) }
}
