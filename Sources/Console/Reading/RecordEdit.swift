import RecordJSON
package import RecordModel

/// A change of a record that an operator made in the console.
package struct RecordEdit: Sendable {
    package var container: String
    package var environment: Environment
    package var scope: DatabaseScope
    /// The name of the user who is acted as, and who becomes the modifier.
    package var user: String
    package var save: RecordSave
}

/// The outcome of a change.
package enum RecordEditOutcome: Hashable, Sendable {
    case saved
    /// Another client has saved the record, or deleted it, since it was read.
    case conflict
    /// A sentence that says why, and what to do.
    case refused(String)
}

/// The fields of a record as text to be edited: a JSON object with a line for each field.
enum FieldsText {
    /// Fields that a text can have: neither fields that an app has encrypted, nor system fields.
    static func text(of body: RecordBody) -> String {
        let lines = self.fields(of: body).map { field in
            var output = JSONOutput()
            output.string(field.name)
            var value = JSONOutput()
            value.field(field)
            return "  " + String(decoding: output.text, as: UTF8.self) + ": "
                + String(decoding: value.text, as: UTF8.self)
        }
        return lines.isEmpty ? "{\n}" : "{\n" + self.visible(lines.joined(separator: ",\n")) + "\n}"
    }

    /// JSON with escapes for characters that are not drawn, or that would turn the text around.
    ///
    /// They stand in strings alone, so the escapes mean the same.
    static func visible(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: { Shown.isHidden($0) }) else { return json }
        var text = ""
        for scalar in json.unicodeScalars {
            guard Shown.isHidden(scalar) else {
                text.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return text
    }

    static func fields(of body: RecordBody) -> [Field] {
        body.fields.filter { !$0.isEncrypted && !$0.name.hasPrefix("_") }
    }

    /// Reads the text.
    ///
    /// - Throws: `PageFailure` with the position of the error.
    static func body(of text: String) throws(PageFailure) -> RecordBody {
        let whole =
            Array("{\"recordName\":\"x\",\"recordType\":\"X\",\"fields\":".utf8) + Array(text.utf8) + [0x7D]
        var isRead = false
        var reader = JSONRecordReader(
            TextInput {
                defer { isRead = true }
                return isRead ? [] : whole
            }
        )
        do {
            guard let draft = try reader.next(), try reader.next() == nil else {
                throw PageFailure.invalid("The text is no JSON object of fields.")
            }
            return draft.changes
        } catch let error as RecordJSONError {
            throw .invalid("The fields cannot be read: \(error).")
        } catch let failure as PageFailure {
            throw failure
        } catch {
            throw .invalid("The fields cannot be read.")
        }
    }
}

/// The changes of an edit, field by field.
struct FieldChanges: Hashable, Sendable {
    struct Line: Hashable, Sendable {
        var name: String
        var before: FieldValue?
        /// `nil` if the field goes.
        var after: FieldValue?
    }

    var lines: [Line]

    /// Compares two bodies by name.
    init(from old: RecordBody, to new: RecordBody) {
        var values: [String: (before: FieldValue?, after: FieldValue?)] = [:]
        for field in old.fields { values[field.name, default: (nil, nil)].before = field.value }
        for field in new.fields where field.value != .clear {
            values[field.name, default: (nil, nil)].after = field.value
        }
        self.lines = values.sorted { $0.key < $1.key }.compactMap { name, value in
            value.before == value.after ? nil : Line(name: name, before: value.before, after: value.after)
        }
    }

    /// The fields to save, with those to remove.
    var body: RecordBody {
        RecordBody(self.lines.map { Field(name: $0.name, value: $0.after ?? .clear) })
    }

    /// The body with the changes.
    func applied(to body: RecordBody) -> RecordBody { body.merging(self.body) }
}
