package import RecordModel

extension SystemField {
    /// The system field with this key of a predicate or a sort descriptor, in either of its
    /// spellings.
    ///
    /// Fails for user fields and unknown names.
    package init?(key: String) {
        guard let field = SystemField(property: key) ?? SystemField(rawValue: key), field != .allText else {
            return nil
        }
        self = field
    }

    /// The field's name in the record model, or why the key names none, as a text for people.
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

    /// Why a key names no field.
    package struct KeyProblem: Error, Hashable {
        package var text: String
    }
}
