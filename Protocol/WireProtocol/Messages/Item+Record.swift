package import NIOCore
package import RecordModel

extension Item {
    /// Appends an item with a lent record to the payload of an `items` frame, in one piece: its
    /// size is computed first.
    package static func append(
        _ record: borrowing LentRecord,
        in zone: EncodedZone,
        index: UInt32,
        toItems buffer: inout ByteBuffer
    ) {
        let bytes = zone.bytes
        self.append(record, inEncoded: bytes.span, index: index, toItems: &buffer)
    }

    /// Appends the only record of a response.
    package static func append(
        _ record: borrowing LentRecord,
        in zone: ZoneID,
        index: UInt32,
        toItems buffer: inout ByteBuffer
    ) {
        zone.withEncoded { self.append(record, inEncoded: $0, index: index, toItems: &buffer) }
    }

    private static func append(
        _ record: borrowing LentRecord,
        inEncoded zone: Span<UInt8>,
        index: UInt32,
        toItems buffer: inout ByteBuffer
    ) {
        let sizes = RecordSizes(record, inEncoded: zone)
        let itemBytes =
            WireSize.field(Proto.Item.index, UInt64(index))
            + WireSize.message(Proto.Item.record, bytes: sizes.record)
        let size = WireSize.message(Proto.Items.items, bytes: itemBytes)
        // SAFETY: the output does not outlive the call.
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { memory in
            var output = SizedOutput(memory)
            output.writeHead(Proto.Items.items, bytes: itemBytes)
            output.writeField(Proto.Item.index, index)
            output.writeHead(Proto.Item.record, bytes: sizes.record)
            record.write(inEncoded: zone, sizes, to: &output)
            return output.count
        }
    }
}

/// A zone's encoded ID, as contained in each record of a page.
package struct EncodedZone: Sendable {
    fileprivate let bytes: [UInt8]

    package init(_ id: ZoneID) {
        self.bytes = id.withEncoded { $0.copied(0..<$0.count) }
    }
}

extension ZoneID {
    /// Lends the encoded message.
    fileprivate func withEncoded<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        let bytesMax =
            WireSize.field(Proto.ZoneID.zoneName, bytes: self.zoneName.utf8.count)
            + WireSize.field(Proto.ZoneID.ownerName, bytes: self.ownerName.utf8.count)
        // SAFETY: the bytes are on the stack, or freed when the call returns; the body keeps none.
        return withUnsafeTemporaryAllocation(byteCount: bytesMax, alignment: 1) { memory in
            var output = SizedOutput(memory)
            self.encode(into: &output)
            return body(Span(_unsafeBytes: UnsafeRawBufferPointer(rebasing: memory[..<output.count])))
        }
    }
}

/// The sizes of a record and of its ID.
private struct RecordSizes {
    let id, record: Int

    init(_ record: borrowing LentRecord, inEncoded zone: Span<UInt8>) {
        let id =
            WireSize.message(Proto.RecordID.zone, bytes: zone.count)
            + WireSize.field(Proto.RecordID.recordName, bytes: record.name.count)
        let system = record.system
        self.id = id
        self.record =
            WireSize.message(Proto.Record.id, bytes: id)
            + WireSize.field(Proto.Record.recordType, bytes: record.recordType.count)
            + WireSize.field(Proto.Record.changeTag, bytes: record.changeTag.count)
            + WireSize.field(Proto.Record.createdMs, UInt64(bitPattern: system.createdMilliseconds))
            + WireSize.field(Proto.Record.modifiedMs, UInt64(bitPattern: system.modifiedMilliseconds))
            + WireSize.field(Proto.Record.createdBy, bytes: system.createdBy.count)
            + WireSize.field(Proto.Record.modifiedBy, bytes: system.modifiedBy.count)
            + WireSize.field(Proto.Record.parent, bytes: record.parent.count)
            + WireSize.field(Proto.Record.fields, bytes: record.fields.count)
    }
}

extension Record {
    /// Appends the encoded message.
    func encode(into buffer: inout ByteBuffer) {
        self.id.zone.withEncoded { zone in
            self.lent { record in
                let sizes = RecordSizes(record, inEncoded: zone)
                // SAFETY: the output does not outlive the call.
                buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: sizes.record) { memory in
                    var output = SizedOutput(memory)
                    record.write(inEncoded: zone, sizes, to: &output)
                    return output.count
                }
            }
        }
    }
}

extension LentRecord {
    fileprivate func write(
        inEncoded zone: Span<UInt8>,
        _ sizes: RecordSizes,
        to output: inout SizedOutput
    ) {
        output.writeHead(Proto.Record.id, bytes: sizes.id)
        output.writeElement(Proto.RecordID.zone, zone)
        output.writeLent(Proto.RecordID.recordName, self.name)
        output.writeLent(Proto.Record.recordType, self.recordType)
        output.writeLent(Proto.Record.changeTag, self.changeTag)
        output.writeField(Proto.Record.createdMs, self.system.createdMilliseconds)
        output.writeField(Proto.Record.modifiedMs, self.system.modifiedMilliseconds)
        output.writeLent(Proto.Record.createdBy, self.system.createdBy)
        output.writeLent(Proto.Record.modifiedBy, self.system.modifiedBy)
        output.writeLent(Proto.Record.parent, self.parent)
        output.writeLent(Proto.Record.fields, self.fields)
    }
}
