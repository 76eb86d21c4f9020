import Foundation
import RecordJSON
import RecordModel

/// Values of fields, as a page shows them.
enum ValueMarkup {
    /// Bytes of a text on the page of its record; the rest is behind a link.
    static let textBytesMax = 16 * 1_024
    private static let elementsMax = 50
    private static let hexadecimalMax = 64

    /// A value in one line, as in a table.
    static func line(_ value: FieldValue) -> String {
        switch value {
        case .timestamp(let seconds): self.time(seconds)
        case .bytes(let bytes): self.hexadecimal(bytes)
        case .location(let location): self.location(location)
        case .asset(let asset): "asset of \(Shown.bytes(asset.size))"
        default: RecordTable.cell(value)
        }
    }

    /// An encrypted value: what is known of it.
    static func encrypted(_ field: Field) -> Markup {
        "<span class=\"encrypted\">encrypted, \(Shown.bytes(self.bytes(of: field.value)))</span>"
    }

    /// The bytes of a value, about.
    static func bytes(of value: FieldValue) -> Int64 {
        switch value {
        case .string(let text): Int64(text.utf8.count)
        case .bytes(let bytes): Int64(bytes.count)
        case .asset(let asset): asset.size
        default: Int64(RecordTable.cell(value).utf8.count)
        }
    }

    /// A value on the page of its record.
    ///
    /// `whole` leads to all of it, `assets` to the bytes of an asset.
    static func markup(
        _ value: FieldValue,
        of record: Record,
        in place: Place,
        whole: PageURL,
        asset: (Asset) -> Markup
    ) -> Markup {
        switch value {
        case .string(let text): return self.text(text, whole: whole)
        case .int64(let number): return "<span class=\"number\">\(Shown.number(number))</span>"
        case .double(let number): return "<span class=\"number\">\(String(number))</span>"
        case .timestamp(let seconds): return self.moment(seconds)
        case .bytes(let bytes):
            return "<code>\(self.hexadecimal(bytes))</code> <a href=\"\(whole)\" download>Download</a>"
        case .location(let location): return "\(self.location(location))"
        case .reference(let reference): return self.reference(reference, of: record, in: place)
        case .asset(let found): return asset(found)
        case .referenceList(let list):
            return self.elements(list, whole) { self.reference($0, of: record, in: place) }
        case .assetList(let list): return self.elements(list, whole) { asset($0) }
        case .stringList(let list): return self.elements(list, whole) { Shown.cut($0) }
        case .int64List(let list): return self.elements(list, whole) { "\(Shown.number($0))" }
        case .doubleList(let list): return self.elements(list, whole) { "\(String($0))" }
        case .timestampList(let list): return self.elements(list, whole) { self.moment($0) }
        case .bytesList(let list):
            return self.elements(list, whole) { "<code>\(self.hexadecimal($0))</code>" }
        case .locationList(let list): return self.elements(list, whole) { "\(self.location($0))" }
        case .emptyList: return "<span class=\"hint\">an empty list</span>"
        case .clear: return ""
        }
    }

    private static func text(_ text: String, whole: PageURL) -> Markup {
        if text.isEmpty { return "<span class=\"hint\">an empty text</span>" }
        let bytes = text.utf8.count
        guard bytes > self.textBytesMax else { return "<div class=\"text\">\(Shown.text(text))</div>" }
        return """
            <div class="text">\(Shown.text(Shown.beginning(of: text, bytes: self.textBytesMax)))…</div>
            <a href="\(whole)">The whole text, \(Shown.bytes(Int64(bytes)))</a>
            """
    }

    private static func elements<Element>(
        _ list: [Element],
        _ whole: PageURL,
        _ markup: (Element) -> Markup
    ) -> Markup {
        let items = list.prefix(self.elementsMax).map { element -> Markup in "<li>\(markup(element))</li>" }
        let rest: Markup =
            list.count > self.elementsMax
            ? "<a href=\"\(whole)\">All \(Shown.count(list.count, "element"))</a>" : ""
        return "<ol class=\"elements\">\(items)</ol>\(rest)"
    }

    private static func reference(_ reference: Reference, of record: Record, in place: Place) -> Markup {
        let id = RecordID(zone: reference.zone ?? record.id.zone, recordName: reference.recordName)
        let action: Markup =
            switch reference.action {
            case .none: ""
            case .deleteSelf: " <span class=\"hint\">is deleted with it</span>"
            case .validate: " <span class=\"hint\">keeps it from being deleted</span>"
            }
        return "\(RecordLink.markup(id, in: place))\(action)"
    }

    // MARK: Texts

    static func moment(_ seconds: Double) -> Markup {
        let milliseconds = (seconds + Date.timeIntervalBetween1970AndReferenceDate) * 1_000
        // Dates that no calendar prints.
        guard milliseconds.magnitude < 2.5e14 else { return "\(String(seconds)) s after 2001" }
        return Shown.time(milliseconds: Int64(milliseconds.rounded()))
    }

    private static func time(_ seconds: Double) -> String {
        guard seconds.magnitude < 2.5e11 else { return "\(seconds) s after 2001" }
        return Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601)
    }

    private static func location(_ location: Location) -> String {
        String(format: "%.6f, %.6f", location.latitude, location.longitude)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let start = bytes.prefix(self.hexadecimalMax).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return start.joined()
            + (bytes.count > self.hexadecimalMax ? "… \(Shown.bytes(Int64(bytes.count)))" : "")
    }
}
