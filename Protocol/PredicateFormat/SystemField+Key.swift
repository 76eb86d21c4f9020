package import RecordModel

extension SystemField {
    /// The field that a key of a predicate or a sort descriptor means, in either of its spellings, or `nil`
    /// for a user's field and for an unknown key.
    package init?(key: String) {
        guard let field = SystemField(property: key) ?? SystemField(rawValue: key), field != .allText else {
            return nil
        }
        self = field
    }

    /// The name in the record model of the field that a key means, or why there is none, as a text
    /// for people.
    package static func fieldName(key: String) -> Result<String, KeyProblem> {
        if let field = SystemField(key: key) { return .success(field.rawValue) }
        if key.utf8.contains(UInt8(ascii: ".")) {
            return .failure(KeyProblem(text: "key paths are not supported: '\(key.cut())'"))
        }
        if key == "share" || key == "___share" {
            return .failure(KeyProblem(text: "'share' can't be queried"))
        }
        guard NameRules.isIdentifier(key.utf8) else {
            return .failure(KeyProblem(text: "'\(key.cut())' is not the name of a field"))
        }
        return .success(key)
    }

    /// Why a key means no field.
    package struct KeyProblem: Error, Hashable {
        package var text: String
    }
}
