package import NIOCore

// SAFETY: lent for the duration of one call by its owner, who knows its size; the callee keeps
// nothing.
package typealias FileMemory = UnsafeMutableRawBufferPointer

// SAFETY: as above, and only read.
package typealias FileBytes = UnsafeRawBufferPointer

extension ByteBuffer {
    /// Lends the readable bytes of several buffers, in order, for the duration of a call.
    package static func withMemory<Result>(
        of buffers: [ByteBuffer],
        _ body: ([FileBytes]) -> Result
    ) -> Result {
        self.withMemory(of: buffers[...], behind: [], body)
    }

    private static func withMemory<Result>(
        of buffers: ArraySlice<ByteBuffer>,
        behind lent: [FileBytes],
        _ body: ([FileBytes]) -> Result
    ) -> Result {
        guard let first = buffers.first else { return body(lent) }
        // SAFETY: all calls that lend memory last until the body returns.
        return first.withUnsafeReadableBytes {
            self.withMemory(of: buffers.dropFirst(), behind: lent + [$0], body)
        }
    }
}
