package import NIOCore
package import RecordModel

extension Item {
    /// Appends an item with a record to the payload of an `items` frame, in one piece: its size is
    /// known before.
    package static func append(_ record: Record, index: UInt32, toItems buffer: inout ByteBuffer) {
        record.id.zone.lendEncoded { zone in
            record.lent { self.append($0, inEncoded: zone, index: index, toItems: &buffer) }
        }
    }

    /// The same with a record that is still where it was read.
    package static func append(
        _ record: borrowing LentRecord,
        in zone: EncodedZone,
        index: UInt32,
        toItems buffer: inout ByteBuffer
    ) {
        // SAFETY: the bytes are copied before the call returns.
        zone.bytes.withUnsafeBytes { zone in
            self.append(record, inEncoded: zone, index: index, toItems: &buffer)
        }
    }

    // SAFETY: as above.
    private static func append(
        _ record: borrowing LentRecord,
        inEncoded zone: UnsafeRawBufferPointer,
        index: UInt32,
        toItems buffer: inout ByteBuffer
    ) {
        let sizes = RecordSizes(record, inEncoded: zone)
        let itemBytes = FieldSize.field(UInt64(index)) + FieldSize.message(sizes.record)
        let bytesMax = FieldSize.message(itemBytes) + FieldWriter.spareBytes
        // SAFETY: the writer is gone when the call returns.
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: bytesMax) { memory in
            var writer = FieldWriter(memory)
            writer.message(1, bytes: itemBytes)
            writer.field(1, UInt64(index))
            writer.message(5, bytes: sizes.record)
            record.write(inEncoded: zone, sizes, to: &writer)
            return writer.count
        }
    }
}

/// A zone's ID as it stands in each record of a page.
package final class EncodedZone: Sendable {
    fileprivate let bytes: [UInt8]

    package init(_ id: ZoneID) {
        self.bytes = id.lendEncoded { [UInt8]($0) }
    }
}

extension ZoneID {
    /// Lends the encoded message.
    // SAFETY: the bytes are on the stack, or gone when the call returns; the body keeps none.
    fileprivate func lendEncoded<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let bytesMax =
            FieldSize.field(self.zoneName) + FieldSize.field(self.ownerName) + FieldWriter.spareBytes
        return withUnsafeTemporaryAllocation(byteCount: bytesMax, alignment: 1) { memory in
            var writer = FieldWriter(memory)
            writer.field(1, self.zoneName)
            writer.field(2, self.ownerName)
            return body(UnsafeRawBufferPointer(rebasing: memory[..<writer.count]))
        }
    }
}

/// The sizes of a record and of its ID.
private struct RecordSizes {
    let id, record: Int

    // SAFETY: only the size of the bytes is looked at.
    init(_ record: borrowing LentRecord, inEncoded zone: UnsafeRawBufferPointer) {
        let id = FieldSize.message(zone.count) + FieldSize.field(bytes: record.name.count)
        let system = record.system
        self.id = id
        self.record =
            FieldSize.message(id)
            + FieldSize.field(bytes: record.recordType.count)
            + FieldSize.field(bytes: record.changeTag.count)
            + FieldSize.field(UInt64(bitPattern: system.createdMilliseconds))
            + FieldSize.field(UInt64(bitPattern: system.modifiedMilliseconds))
            + FieldSize.field(bytes: system.createdBy.count)
            + FieldSize.field(bytes: system.modifiedBy.count)
            + FieldSize.field(bytes: record.parent.count)
            + FieldSize.field(bytes: record.fields.count)
    }
}

extension Record {
    /// Appends the encoded message.
    func encode(into buffer: inout ByteBuffer) {
        self.id.zone.lendEncoded { zone in
            self.lent { record in
                let sizes = RecordSizes(record, inEncoded: zone)
                // SAFETY: the writer is gone when the call returns.
                buffer.writeWithUnsafeMutableBytes(
                    minimumWritableBytes: sizes.record + FieldWriter.spareBytes
                ) {
                    var writer = FieldWriter($0)
                    record.write(inEncoded: zone, sizes, to: &writer)
                    return writer.count
                }
            }
        }
    }
}

extension LentRecord {
    // SAFETY: all that is lent is copied before the call returns.
    fileprivate func write(
        inEncoded zone: UnsafeRawBufferPointer,
        _ sizes: RecordSizes,
        to writer: inout FieldWriter
    ) {
        writer.message(1, bytes: sizes.id)
        writer.message(1, zone)
        writer.field(2, self.name)
        writer.field(2, self.recordType)
        writer.field(3, self.changeTag)
        writer.field(4, UInt64(bitPattern: self.system.createdMilliseconds))
        writer.field(5, UInt64(bitPattern: self.system.modifiedMilliseconds))
        writer.field(6, self.system.createdBy)
        writer.field(7, self.system.modifiedBy)
        writer.field(8, self.parent)
        writer.field(9, self.fields)
    }
}
