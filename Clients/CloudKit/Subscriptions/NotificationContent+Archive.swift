import Foundation
import RecordModel

/// A notification in an archive: its dictionary in JSON, and beside it the fields of the record, not
/// and JSON can represent all of them.
extension NotificationContent {
    private static let queryKey = "qry"
    private static let fieldsKey = "af"

    /// Reads what `archiveParts` wrote; `nil` if it is not a notification.
    init?(_ body: ArchivedBody) {
        guard let json = body.bytes("json"),
            var dictionary = (try? JSONSerialization.jsonObject(with: Data(json))) as? [String: Any],
            let content = NotificationContent(dictionary)
        else { return nil }
        guard let bytes = body.bytes("fields") else {
            self = content
            return
        }
        guard let body = try? RecordBody(checking: bytes, allowsClear: false) else { return nil }
        let fields = body.objects(in: content.zoneID ?? .default)
        Self.changeQuery(in: &dictionary) { $0[Self.fieldsKey] = fields }
        self.init(dictionary)
    }

    /// The archived parts.
    var archiveParts: [Field] {
        var dictionary = Self.jsonObject(self.dictionary)
        if self.fields != nil { Self.changeQuery(in: &dictionary) { $0[Self.fieldsKey] = nil } }
        guard let json = try? JSONSerialization.data(withJSONObject: dictionary, options: .sortedKeys) else {
            return []
        }
        let parts = [Field("json", .bytes(Array(json)))]
        return self.body.map { [Field("fields", .bytes($0.bytes))] + parts } ?? parts
    }
}

/// The dictionary of a notification as JSON.
extension NotificationContent {
    /// The key of all fields as a body.
    static let bodyKey = "afb"

    /// The dictionary without what JSON can't represent; the fields of a record are all in it.
    var jsonDictionary: [AnyHashable: Any] {
        if JSONSerialization.isValidJSONObject(self.dictionary) { return self.dictionary }
        var dictionary = Self.jsonObject(self.dictionary)
        if let body {
            let text = Data(body.bytes).base64EncodedString()
            Self.changeQuery(in: &dictionary) { $0[Self.bodyKey] = text }
        }
        return dictionary
    }

    /// The fields of the record, those that no record can have left out.
    private var body: RecordBody? {
        guard let fields = self.fields else { return nil }
        let zone = (self.zoneID ?? .default).model
        let values = fields.compactMap { name, object -> Field? in
            guard NameRules.isIdentifier(name.utf8), let value = object as? any FieldValueConvertible else {
                return nil
            }
            return (try? value.fieldValue(in: zone)).map { Field(name, $0) }
        }
        return RecordBody(values)
    }

    /// Reads the fields that a dictionary has as a body; `nil` if it has none.
    static func exactFields(_ value: Any?, in zone: CKRecordZone.ID) -> [String: Any]? {
        guard let text = value as? String, let bytes = Data(base64Encoded: text),
            let body = try? RecordBody(checking: Array(bytes), allowsClear: false)
        else { return nil }
        return body.objects(in: zone)
    }

    private static func changeQuery(
        in dictionary: inout [String: Any],
        _ change: (inout [String: Any]) -> Void
    ) {
        guard var ck = dictionary["ck"] as? [String: Any], var query = ck[Self.queryKey] as? [String: Any]
        else { return }
        change(&query)
        ck[Self.queryKey] = query
        dictionary["ck"] = ck
    }

    private static func jsonObject(_ dictionary: [AnyHashable: Any]) -> [String: Any] {
        var object: [String: Any] = [:]
        for (key, value) in dictionary {
            if let key = key as? String { object[key] = self.jsonValue(value) }
        }
        return object
    }

    /// A list that has an element which JSON can't represent is left out as a whole.
    private static func jsonValue(_ value: Any) -> Any? {
        if let dictionary = value as? [AnyHashable: Any] { return self.jsonObject(dictionary) }
        if let list = value as? [Any] {
            let values = list.compactMap { self.jsonValue($0) }
            return values.count == list.count ? values : nil
        }
        return JSONSerialization.isValidJSONObject([value]) ? value : nil
    }
}

extension RecordBody {
    /// The values of its fields as a record gives them.
    fileprivate func objects(in zone: CKRecordZone.ID) -> [String: Any] {
        let objects = self.fields.map { ($0.name, $0.value.object(in: zone)) }
        return Dictionary(objects) { $1 }.compactMapValues { $0 as Any? }
    }
}
