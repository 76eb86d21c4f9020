import Foundation
package import RecordModel

/// How answers name zones and write numbers.
package struct WebForm: Hashable, Sendable {
    /// The user record name that stands for an owner who isn't named; `nil` in the public database, with
    /// zones that have no owner.
    package var owner: String?
    /// Whether whole and other numbers of fields are texts.
    package var numbersAsStrings: Bool

    package init(owner: String?, numbersAsStrings: Bool = false) {
        self.owner = owner
        self.numbersAsStrings = numbersAsStrings
    }
}

/// Records and zones in the form of CloudKit Web Services.
///
/// Members come in a fixed order, and fields by name, so that equal records are equal texts.
extension JSONOutput {
    /// A constant: the server does not know devices, and clients insist on a text.
    private static let deviceID = "0"

    package mutating func webRecord(_ record: Record, _ form: WebForm) {
        self.object { output in
            output.member("recordName", record.id.recordName)
            output.member("recordType", record.recordType)
            output.member("recordChangeTag", record.changeTag)
            output.name("zoneID")
            output.webZone(record.id.zone, form)
            if let parent = record.parent {
                output.name("parent")
                output.object { $0.member("recordName", parent) }
            }
            output.webShare(of: record, form)
            output.name("created")
            output.webMoment(record.system.createdMilliseconds, by: record.system.createdBy)
            output.name("modified")
            output.webMoment(record.system.modifiedMilliseconds, by: record.system.modifiedBy)
            output.member("deleted", literal: "false")
            output.name("pluginFields")
            output.object { _ in }
            output.name("fields")
            output.object { output in
                for field in record.body.fields where !ShareRecord.isField(field.name) {
                    output.name(field.name)
                    output.webField(field, form)
                }
            }
        }
    }

    /// A deleted record, which has no type: clients take what has one for a record.
    package mutating func webDeletion(_ id: RecordID, _ form: WebForm) {
        self.object { output in
            output.member("recordName", id.recordName)
            output.name("zoneID")
            output.webZone(id.zone, form)
            output.member("deleted", literal: "true")
        }
    }

    package mutating func webZone(_ zone: ZoneID, _ form: WebForm) {
        self.object { output in
            output.member("zoneName", zone.zoneName)
            let owner = zone.ownerName.isEmpty ? form.owner : zone.ownerName
            if let owner { output.member("ownerRecordName", owner) }
            output.member("zoneType", zone.isDefault ? "DEFAULT_ZONE" : "REGULAR_CUSTOM_ZONE")
        }
    }

    /// Writes a value that is JSON already.
    package mutating func written(_ text: [UInt8]) {
        self.literal(String(decoding: text, as: UTF8.self))
    }

    private mutating func webShare(of record: Record, _ form: WebForm) {
        for field in record.body.fields where field.name == ShareRecord.referenceField {
            guard case .reference(let share) = field.value else { continue }
            self.name("share")
            self.object { output in
                output.member("recordName", share.recordName)
                output.name("zoneID")
                output.webZone(record.id.zone, form)
            }
        }
    }

    private mutating func webMoment(_ milliseconds: Int64, by user: String) {
        self.object { output in
            output.member("timestamp", literal: "\(milliseconds)")
            output.member("userRecordName", user)
            output.member("deviceID", Self.deviceID)
        }
    }

    private mutating func webField(_ field: Field, _ form: WebForm) {
        self.object { output in
            output.name("value")
            output.webValue(field.value, form)
            output.member("type", field.value.type.jsonName)
            if field.isEncrypted { output.member("isEncrypted", literal: "true") }
        }
    }

    private mutating func webValue(_ value: FieldValue, _ form: WebForm) {
        switch value {
        case .int64(let number): self.webNumber("\(number)", form)
        case .double(let number): self.webDouble(number, form)
        case .timestamp(let seconds): self.webDate(seconds, form)
        case .location(let location): self.webLocation(location)
        case .reference(let reference): self.webReference(reference, form)
        case .asset(let asset): self.webAsset(asset)
        case .int64List(let list): self.array(list) { $0.webNumber("\($1)", form) }
        case .doubleList(let list): self.array(list) { $0.webDouble($1, form) }
        case .timestampList(let list): self.array(list) { $0.webDate($1, form) }
        case .locationList(let list): self.array(list) { $0.webLocation($1) }
        case .referenceList(let list): self.array(list) { $0.webReference($1, form) }
        case .assetList(let list): self.array(list) { $0.webAsset($1) }
        case .string, .bytes, .stringList, .bytesList, .emptyList, .clear: self.value(value)
        }
    }

    private mutating func webNumber(_ text: String, _ form: WebForm) {
        if form.numbersAsStrings { self.string(text) } else { self.literal(text) }
    }

    /// JSON has no numbers for infinities, and none that is not a number.
    private mutating func webDouble(_ number: Double, _ form: WebForm) {
        if number.isNaN { return self.string("NaN") }
        if number.isInfinite { return self.string(number < 0 ? "-Infinity" : "Infinity") }
        self.webNumber("\(number)", form)
    }

    private mutating func webDate(_ seconds: Double, _ form: WebForm) {
        self.webNumber("\(WebDate.milliseconds(seconds: seconds))", form)
    }

    private mutating func webReference(_ reference: Reference, _ form: WebForm) {
        self.object { output in
            output.member("recordName", reference.recordName)
            if let zone = reference.zone {
                output.name("zoneID")
                output.webZone(zone, form)
            }
            output.member("action", reference.action.jsonName)
        }
    }

    private mutating func webAsset(_ asset: Asset) {
        self.object { output in
            output.member("fileChecksum", Data(asset.sha256).base64EncodedString())
            output.member("size", literal: "\(asset.size)")
        }
    }

    private mutating func webLocation(_ location: Location) {
        let plain = WebForm(owner: nil)
        self.object { output in
            output.name("latitude")
            output.webDouble(location.latitude, plain)
            output.name("longitude")
            output.webDouble(location.longitude, plain)
            for (name, path) in LocationNames.optional {
                let value = location[keyPath: path]
                guard value.bitPattern != 0 else { continue }
                output.name(name)
                output.webDouble(value, plain)
            }
            guard location.timestamp.bitPattern != 0 else { return }
            output.name("timestamp")
            output.webDate(location.timestamp, plain)
        }
    }
}
