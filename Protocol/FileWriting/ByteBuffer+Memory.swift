package import NIOCore

// SAFETY: lent for the time of one call, and only read; nobody keeps it.
package typealias LentBytes = UnsafeRawBufferPointer

extension ByteBuffer {
    /// Lends the readable bytes of several buffers, in their order, for the time of a call.
    package static func withMemory<Result>(
        of buffers: [ByteBuffer],
        _ body: ([LentBytes]) -> Result
    ) -> Result {
        self.withMemory(of: buffers[...], behind: [], body)
    }

    private static func withMemory<Result>(
        of buffers: ArraySlice<ByteBuffer>,
        behind lent: [LentBytes],
        _ body: ([LentBytes]) -> Result
    ) -> Result {
        guard let first = buffers.first else { return body(lent) }
        // SAFETY: all calls that lend memory last until the body returns.
        return first.withUnsafeReadableBytes {
            self.withMemory(of: buffers.dropFirst(), behind: lent + [$0], body)
        }
    }
}
