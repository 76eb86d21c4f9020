/// A change tag is the position of the record's last change in base 36: short, and new with every change.
package enum ChangeTag {
    /// Enough digits for any position; such a text needs no memory of its own.
    package static let digitsMax = 13

    package static func text(of position: Int64) -> String {
        // SAFETY: the memory is on the stack, and copied before the call returns.
        withUnsafeTemporaryAllocation(byteCount: self.digitsMax, alignment: 1) { memory in
            String(decoding: self.write(position, into: memory), as: UTF8.self)
        }
    }

    /// Writes the tag to the end of memory of at least `digitsMax` bytes, and returns where it is.
    // SAFETY: the memory is the caller's; what is returned is a part of it.
    package static func write(
        _ position: Int64,
        into memory: UnsafeMutableRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        precondition(memory.count >= self.digitsMax)
        var offset = memory.count
        // A damaged position may be negative: its tag is one that no record gets.
        var rest = UInt64(bitPattern: position)
        repeat {
            offset -= 1
            let digit = UInt8(rest % 36)
            memory[offset] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            rest /= 36
        } while rest > 0
        return UnsafeRawBufferPointer(rebasing: memory[offset...])
    }
}
