package import NIOCore
package import RecordModel

extension Item {
    /// Appends an item with a record to the payload of an `items` frame, in one piece: its size is known before.
    package static func append(_ record: Record, index: UInt32, toItems buffer: inout ByteBuffer) {
        record.lent { self.append($0, in: record.id.zone, index: index, toItems: &buffer) }
    }

    /// The same with a record that is still where it was read.
    package static func append(
        _ record: borrowing LentRecord,
        in zone: ZoneID,
        index: UInt32,
        toItems buffer: inout ByteBuffer
    ) {
        let sizes = RecordSizes(record, in: zone)
        let itemBytes = FieldSize.field(UInt64(index)) + FieldSize.message(sizes.record)
        let bytesMax = FieldSize.message(itemBytes) + FieldWriter.spareBytes
        // SAFETY: the writer is gone when the call returns.
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: bytesMax) { memory in
            var writer = FieldWriter(memory)
            writer.message(1, bytes: itemBytes)
            writer.field(1, UInt64(index))
            writer.message(5, bytes: sizes.record)
            record.write(in: zone, sizes, to: &writer)
            return writer.count
        }
    }
}

/// The sizes of a record and of the messages in it.
private struct RecordSizes {
    let zone, id, record: Int

    init(_ record: borrowing LentRecord, in zone: ZoneID) {
        let zone = FieldSize.field(zone.zoneName) + FieldSize.field(zone.ownerName)
        let id = FieldSize.message(zone) + FieldSize.field(bytes: record.name.count)
        self.zone = zone
        self.id = id
        self.record =
            FieldSize.message(id)
            + FieldSize.field(record.recordType)
            + FieldSize.field(record.changeTag)
            + FieldSize.field(UInt64(bitPattern: record.system.createdMilliseconds))
            + FieldSize.field(UInt64(bitPattern: record.system.modifiedMilliseconds))
            + FieldSize.field(record.system.createdBy)
            + FieldSize.field(record.system.modifiedBy)
            + FieldSize.field(bytes: record.parent.count)
            + FieldSize.field(bytes: record.fields.count)
    }
}

extension Record {
    /// Appends the encoded message.
    func encode(into buffer: inout ByteBuffer) {
        self.lent { record in
            let sizes = RecordSizes(record, in: self.id.zone)
            // SAFETY: the writer is gone when the call returns.
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: sizes.record + FieldWriter.spareBytes) {
                var writer = FieldWriter($0)
                record.write(in: self.id.zone, sizes, to: &writer)
                return writer.count
            }
        }
    }
}

extension LentRecord {
    fileprivate func write(in zone: ZoneID, _ sizes: RecordSizes, to writer: inout FieldWriter) {
        writer.message(1, bytes: sizes.id)
        writer.message(1, bytes: sizes.zone)
        writer.field(1, zone.zoneName)
        writer.field(2, zone.ownerName)
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
