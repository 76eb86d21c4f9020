/// A record without its zone.
///
/// The parts that differ between records remain in the memory from which they were read.
///
/// It is lent for the duration of a call and never copied. The called function copies the parts it
/// keeps. Texts are UTF-8 and not `String`, so that a page of hundreds of records needs no
/// reference counting.
package struct LentRecord: ~Copyable {
    // SAFETY: the lender keeps the memory unchanged until the call returns; this and all below.
    package let name: UnsafeRawBufferPointer
    // SAFETY: as above.
    package let recordType: UnsafeRawBufferPointer
    // SAFETY: as above.
    package let changeTag: UnsafeRawBufferPointer
    package let system: LentSystemFields
    /// Record name of the parent; empty if there is none.
    // SAFETY: as above.
    package let parent: UnsafeRawBufferPointer
    /// The bytes of a `RecordBody`.
    // SAFETY: as above.
    package let fields: UnsafeRawBufferPointer

    // SAFETY: as above.
    @inlinable @inline(__always)
    package init(
        name: UnsafeRawBufferPointer,
        recordType: UnsafeRawBufferPointer,
        changeTag: UnsafeRawBufferPointer,
        system: LentSystemFields,
        parent: UnsafeRawBufferPointer,
        fields: UnsafeRawBufferPointer
    ) {
        self.name = name
        self.recordType = recordType
        self.changeTag = changeTag
        self.system = system
        self.parent = parent
        self.fields = fields
    }

    /// Whether the record is a share.
    package var isShare: Bool {
        self.recordType.count == ShareRecord.type.utf8.count
            && self.recordType.elementsEqual(ShareRecord.type.utf8)
    }

    /// A copy that may be kept.
    package func record(in zone: ZoneID) -> Record {
        Record(
            id: RecordID(zone: zone, recordName: String(decoding: self.name, as: UTF8.self)),
            recordType: String(decoding: self.recordType, as: UTF8.self),
            changeTag: String(decoding: self.changeTag, as: UTF8.self),
            system: SystemFields(
                createdMilliseconds: self.system.createdMilliseconds,
                modifiedMilliseconds: self.system.modifiedMilliseconds,
                createdBy: String(decoding: self.system.createdBy, as: UTF8.self),
                modifiedBy: String(decoding: self.system.modifiedBy, as: UTF8.self)
            ),
            parent: self.parent.isEmpty ? nil : String(decoding: self.parent, as: UTF8.self),
            body: RecordBody(trusted: [UInt8](self.fields))
        )
    }

    /// Whether every field can be read; copies the fields.
    package var isIntact: Bool { RecordBody(trusted: [UInt8](self.fields)).isIntact }

    /// Lends the record with unreadable fields instead of its damaged ones.
    package func unreadable<Result>(_ body: (borrowing LentRecord) -> Result) -> Result {
        self.lending([0xFF], body)
    }

    /// Lends the record with only the fields in `keys`; `nil` if its body is damaged.
    package func keeping<Result>(_ keys: Set<String>, _ body: (borrowing LentRecord) -> Result) -> Result? {
        guard let kept = RecordBody(trusted: [UInt8](self.fields)).intact(keeping: keys) else { return nil }
        return self.lending(kept.bytes, body)
    }

    private func lending<Result>(_ fields: [UInt8], _ body: (borrowing LentRecord) -> Result) -> Result {
        // SAFETY: the loan ends before the memory does.
        fields.withUnsafeBytes { fields in
            body(
                LentRecord(
                    name: self.name,
                    recordType: self.recordType,
                    changeTag: self.changeTag,
                    system: self.system,
                    parent: self.parent,
                    fields: fields
                )
            )
        }
    }
}

/// `SystemFields` in the memory from which they were read.
package struct LentSystemFields {
    package let createdMilliseconds, modifiedMilliseconds: Int64
    /// User record names; empty if unknown.
    // SAFETY: as the texts of the record.
    package let createdBy, modifiedBy: UnsafeRawBufferPointer

    // SAFETY: as above.
    @inlinable @inline(__always)
    package init(
        createdMilliseconds: Int64,
        modifiedMilliseconds: Int64,
        createdBy: UnsafeRawBufferPointer,
        modifiedBy: UnsafeRawBufferPointer
    ) {
        self.createdMilliseconds = createdMilliseconds
        self.modifiedMilliseconds = modifiedMilliseconds
        self.createdBy = createdBy
        self.modifiedBy = modifiedBy
    }
}

/// Lends the UTF-8 of two texts.
// SAFETY: the texts live until the call returns; nothing of them is kept.
private func lend<Result>(
    _ first: String,
    _ second: String,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result
) -> Result {
    var first = first
    var second = second
    return first.withUTF8 { first in
        second.withUTF8 { body(UnsafeRawBufferPointer(first), UnsafeRawBufferPointer($0)) }
    }
}

extension Record {
    /// Lends the record.
    package func lent<Result>(_ body: (borrowing LentRecord) -> Result) -> Result {
        // The closures capture these instead of the record, which they would copy as a whole.
        let (recordType, changeTag) = (self.recordType, self.changeTag)
        let (created, modified) = (self.system.createdMilliseconds, self.system.modifiedMilliseconds)
        let (creator, modifier) = (self.system.createdBy, self.system.modifiedBy)
        let bytes = self.body.bytes
        // SAFETY: the loan ends before the memory does.
        return lend(self.id.recordName, self.parent ?? "") { name, parent in
            lend(recordType, changeTag) { recordType, changeTag in
                lend(creator, modifier) { createdBy, modifiedBy in
                    bytes.withUnsafeBytes { fields in
                        body(
                            LentRecord(
                                name: name,
                                recordType: recordType,
                                changeTag: changeTag,
                                system: LentSystemFields(
                                    createdMilliseconds: created,
                                    modifiedMilliseconds: modified,
                                    createdBy: createdBy,
                                    modifiedBy: modifiedBy
                                ),
                                parent: parent,
                                fields: fields
                            )
                        )
                    }
                }
            }
        }
    }

    /// Lends the record to a function that may throw.
    package func lentThrowing<Value, Failure: Error>(
        _ body: (borrowing LentRecord) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let result: Result<Value, Failure> = self.lent { record in
            do throws(Failure) {
                return .success(try body(record))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
