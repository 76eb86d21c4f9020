/// A record without its zone, of which the parts that differ from one record to the next are still where they were read.
///
/// Lent for the length of a call, and never copied: whoever is handed one copies what it keeps.
package struct LentRecord: ~Copyable {
    /// UTF-8.
    // SAFETY: whoever lends the record keeps the memory as it is until the call returns; this and the two below.
    package let name: UnsafeRawBufferPointer
    package let recordType: String
    package let changeTag: String
    package let system: SystemFields
    /// Record name of the parent in UTF-8; empty: none.
    // SAFETY: as above.
    package let parent: UnsafeRawBufferPointer
    /// The bytes of a `RecordBody`.
    // SAFETY: as above.
    package let fields: UnsafeRawBufferPointer

    // SAFETY: as above.
    package init(
        name: UnsafeRawBufferPointer,
        recordType: String,
        changeTag: String,
        system: SystemFields,
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

    /// A copy that may be kept.
    package func record(in zone: ZoneID) -> Record {
        Record(
            id: RecordID(zone: zone, recordName: String(decoding: self.name, as: UTF8.self)),
            recordType: self.recordType,
            changeTag: self.changeTag,
            system: self.system,
            parent: self.parent.isEmpty ? nil : String(decoding: self.parent, as: UTF8.self),
            body: RecordBody(trusted: [UInt8](self.fields))
        )
    }

    /// Lends the record with the fields of `keys` alone.
    package func keeping<Result>(_ keys: Set<String>, _ body: (borrowing LentRecord) -> Result) -> Result {
        let kept = RecordBody(trusted: [UInt8](self.fields)).keeping(keys)
        // SAFETY: what is lent is gone before what it points to.
        return kept.bytes.withUnsafeBytes { fields in
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

extension Record {
    /// Lends the record.
    package func lent<Result>(_ body: (borrowing LentRecord) -> Result) -> Result {
        var name = self.id.recordName
        var parent = self.parent ?? ""
        // SAFETY: what is lent is gone before what it points to.
        return name.withUTF8 { name in
            parent.withUTF8 { parent in
                self.body.bytes.withUnsafeBytes { fields in
                    body(
                        LentRecord(
                            name: UnsafeRawBufferPointer(name),
                            recordType: self.recordType,
                            changeTag: self.changeTag,
                            system: self.system,
                            parent: UnsafeRawBufferPointer(parent),
                            fields: fields
                        )
                    )
                }
            }
        }
    }

    /// The same for who may fail.
    package func lentThrowing<Answer, Failure: Error>(
        _ body: (borrowing LentRecord) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let result: Result<Answer, Failure> = self.lent { record in
            do throws(Failure) {
                return .success(try body(record))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
