package import RecordModel

/// Records as JSON, in the format of CloudKit Web Services.
///
/// ```text
/// {"recordName":"first","recordType":"Note","recordChangeTag":"1f",
///  "zoneID":{"zoneName":"_defaultZone"},"parent":{"recordName":"folder"},
///  "created":{"timestamp":1764115200000,"userRecordName":"_0123…"},"modified":{…},
///  "fields":{"text":{"value":"Hello","type":"STRING"}}}
/// ```
///
/// `Sources/tidemark/Guides/Records.md` describes every member and type for users.
package enum RecordJSON {
    /// One line without its line break.
    package static func text(of record: Record, dates: DateForm = .milliseconds) -> [UInt8] {
        var output = JSONOutput(dates: dates)
        output.object { output in
            output.member("recordName", record.id.recordName)
            output.member("recordType", record.recordType)
            output.member("recordChangeTag", record.changeTag)
            output.name("zoneID")
            output.zone(record.id.zone)
            if let parent = record.parent {
                output.name("parent")
                output.object { $0.member("recordName", parent) }
            }
            output.name("created")
            output.moment(record.system.createdMilliseconds, by: record.system.createdBy)
            output.name("modified")
            output.moment(record.system.modifiedMilliseconds, by: record.system.modifiedBy)
            output.name("fields")
            output.object { output in
                for field in record.body.fields {
                    output.name(field.name)
                    output.field(field)
                }
            }
        }
        return output.text
    }

    /// The line of a deleted record.
    package static func text(of deleted: DeletedRecord) -> [UInt8] {
        var output = JSONOutput()
        output.object { output in
            output.member("recordName", deleted.id.recordName)
            output.member("recordType", deleted.recordType)
            output.name("zoneID")
            output.zone(deleted.id.zone)
            output.member("deleted", literal: "true")
        }
        return output.text
    }
}

extension JSONOutput {
    fileprivate mutating func moment(_ milliseconds: Int64, by user: String) {
        self.object { output in
            if output.dates == .iso, let text = ISODate.text(milliseconds: milliseconds) {
                output.member("timestamp", text)
            } else {
                output.member("timestamp", literal: "\(milliseconds)")
            }
            if !user.isEmpty { output.member("userRecordName", user) }
        }
    }

    /// Writes the value of a field with its type.
    package mutating func field(_ field: Field) {
        self.object { output in
            output.name("value")
            output.value(field.value)
            if field.value != .clear { output.member("type", field.value.type.jsonName) }
            if field.isEncrypted { output.member("isEncrypted", literal: "true") }
        }
    }
}
