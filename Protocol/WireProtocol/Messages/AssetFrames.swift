package import NIOCore
import RecordModel

/// Frame `asset_data`: bytes of one asset, after the index of the asset or of the range, and their
/// offset.
///
///      0               4                               12
///     +---------------+-------------------------------+----------------
///     | item          | offset                        | bytes …
///     +---------------+-------------------------------+----------------
///      UInt32          UInt64                          1 … 262,144 bytes    (network byte order)
///
/// - Source: `Protocol/README.md`, section 5.12.
package struct AssetData: Hashable, Sendable {
    package static let headerBytes = 12
    package static let payloadBytesMax = headerBytes + Bounds.assetDataBytesMax

    package var item: UInt32
    package var offset: Int64
    package var bytes: ByteBuffer

    package init(item: UInt32, offset: Int64, bytes: ByteBuffer) {
        self.item = item
        self.offset = offset
        self.bytes = bytes
    }

    /// Reads the payload of an `asset_data`; the bytes are not copied.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        var payload = payload
        guard let (item, offset) = payload.readMultipleIntegers(as: (UInt32, UInt64).self),
            let offset = Int64(exactly: offset),
            (1...Bounds.assetDataBytesMax).contains(payload.readableBytes)
        else {
            throw WireError(.malformed, field: "asset_data")
        }
        self.init(item: item, offset: offset, bytes: payload)
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        buffer.reserveCapacity(Self.headerBytes + self.bytes.readableBytes)
        Self.writeHeader(item: self.item, offset: self.offset, into: &buffer)
        buffer.writeImmutableBuffer(self.bytes)
        return buffer
    }

    /// Writes the header before the bytes.
    package static func writeHeader(item: UInt32, offset: Int64, into buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(item, UInt64(offset))
    }
}

/// Frame `progress`: the progress of an upload or a download.
package struct Progress: Hashable, Sendable {
    /// For an upload the durable bytes, for a download those sent before this frame.
    package var doneBytes: Int64
    package var totalBytes: Int64

    package init(doneBytes: Int64, totalBytes: Int64) {
        self.doneBytes = doneBytes
        self.totalBytes = totalBytes
    }

    /// Reads the payload of a `progress`.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        var done: UInt64 = 0
        var total: UInt64 = 0
        var message = MessageReader(payload, "progress")
        while let field = try message.next(Proto.Progress.self) {
            switch field {
            case .doneBytes: done = try message.varint()
            case .totalBytes: total = try message.varint()
            }
        }
        guard done <= total, let total = Int64(exactly: total) else {
            throw WireError(.malformed, field: "progress")
        }
        self.init(doneBytes: Int64(done), totalBytes: total)
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        buffer.writeField(Proto.Progress.doneBytes, self.doneBytes)
        buffer.writeField(Proto.Progress.totalBytes, self.totalBytes)
        return buffer
    }
}

/// Frame `asset_offsets`: the server is ready for the bytes of an upload.
package struct AssetOffsets: Hashable, Sendable {
    /// For each asset, in order, the first byte that the server does not have.
    package var offsets: [Int64]

    package init(offsets: [Int64]) {
        self.offsets = offsets
    }

    /// Reads the payload of an `asset_offsets`; the client checks that they fit its request.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        var offsets: [UInt64] = []
        var message = MessageReader(payload, "asset_offsets")
        while let field = try message.next(Proto.AssetOffsets.self) {
            switch field {
            case .offsets: offsets += try message.packed()
            case .offsetsElement: offsets.append(try message.varint())
            }
        }
        guard offsets.allSatisfy({ Int64(exactly: $0) != nil }) else {
            throw WireError(.malformed, field: "asset_offsets")
        }
        self.init(offsets: offsets.map { Int64($0) })
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        buffer.writePacked(Proto.AssetOffsets.offsets, self.offsets)
        return buffer
    }
}
