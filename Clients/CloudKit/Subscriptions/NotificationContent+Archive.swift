import Foundation
import RecordModel

/// A notification in an archive: its dictionary in JSON, and beside it the fields of the record,
/// which JSON can't represent.
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
        guard let fields = try? RecordBody(checking: bytes, allowsClear: false),
            var ck = dictionary["ck"] as? [String: Any], var query = ck[Self.queryKey] as? [String: Any]
        else { return nil }
        let zone = content.zoneID ?? .default
        let objects = fields.fields.map { ($0.name, $0.value.object(in: zone)) }
        query[Self.fieldsKey] = Dictionary(objects) { $1 }.compactMapValues { $0 as Any? }
        ck[Self.queryKey] = query
        dictionary["ck"] = ck
        self.init(dictionary)
    }

    /// The archived parts; empty if the dictionary, which anybody may have made, has values that
    /// JSON can't represent.
    var archiveParts: [Field] {
        var dictionary = self.dictionary
        if self.fields != nil, var ck = dictionary["ck"] as? [AnyHashable: Any],
            var query = ck[Self.queryKey] as? [AnyHashable: Any]
        {
            query[Self.fieldsKey] = nil
            ck[Self.queryKey] = query
            dictionary["ck"] = ck
        }
        guard JSONSerialization.isValidJSONObject(dictionary),
            let json = try? JSONSerialization.data(withJSONObject: dictionary, options: .sortedKeys)
        else { return [] }
        let parts = [Field("json", .bytes(Array(json)))]
        guard let fields = self.fields else { return parts }
        let zone = (self.zoneID ?? .default).model
        let values = fields.compactMap { name, object -> Field? in
            guard NameRules.isIdentifier(name.utf8), let value = object as? any FieldValueConvertible else {
                return nil
            }
            return (try? value.fieldValue(in: zone)).map { Field(name, $0) }
        }
        return [Field("fields", .bytes(RecordBody(values).bytes))] + parts
    }
}
