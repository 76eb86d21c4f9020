import CoreLocation
import Foundation
import PredicateFormat
import RecordModel

/// The evaluation of predicates from formats for one object, in this process.
struct PredicateEvaluation {
    private let object: Any?
    private let variables: [String: ExpressionSyntax]

    init(of object: Any?, variables: [String: ExpressionSyntax] = [:]) {
        self.object = object
        self.variables = variables
    }

    func isTrue(_ predicate: PredicateSyntax) -> Bool {
        switch predicate {
        case .value(let value): value
        case .and(let parts): parts.allSatisfy { self.isTrue($0) }
        case .or(let parts): parts.contains { self.isTrue($0) }
        case .not(let part): !self.isTrue(part)
        case .comparison(let comparison): self.isTrue(comparison)
        }
    }

    /// Returns the object's value under a key path; an absent value is `nil`'s constant.
    func constant(_ keyPath: String) -> ExpressionSyntax {
        if keyPath == "allTokens", let record = self.object as? CKRecord {
            return .list(record.texts.flatMap { Self.words(of: $0) })
        }
        var found = self.object
        for component in keyPath.split(separator: ".") where component != "SELF" {
            found = Self.value(String(component), of: found)
        }
        return found.map { ExpressionSyntax(argument: $0) } ?? .constant(.null)
    }

    private static func value(_ key: String, of object: Any?) -> Any? {
        switch object {
        case let record as CKRecord:
            SystemField(key: key).map { Self.value(of: $0, in: record) } ?? record.value(forKey: key)
        case let dictionary as NSDictionary: dictionary.object(forKey: NSString(string: key))
        case let dictionary as [AnyHashable: Any]: dictionary[key]
        case let recordID as CKRecordID where key == "recordName": recordID.recordName
        default: nil
        }
    }

    /// Returns the constant of an expression; `nil` if it can't be evaluated here.
    private func constant(_ expression: ExpressionSyntax) -> ExpressionSyntax? {
        switch expression {
        case .constant, .list: return expression
        case .keyPath(let path): return self.constant(path)
        case .object: return self.object.map { ExpressionSyntax(argument: $0) } ?? .constant(.null)
        case .variable(let name): return self.variables[name]
        case .function(let name, let arguments):
            switch (name.lowercased(), arguments.count) {
            case ("now", 0): return .value(.timestamp(Date().timeIntervalSinceReferenceDate))
            case ("distancetolocation:fromlocation:", 2): return self.distance(arguments[0], arguments[1])
            case ("tokenize", 2), ("tokenize:using:", 2): return self.words(arguments[0])
            default: return nil
            }
        case .predicate: return nil
        }
    }

    private func distance(_ one: ExpressionSyntax, _ other: ExpressionSyntax) -> ExpressionSyntax? {
        guard case .constant(.value(.location(let one))) = self.constant(one),
            case .constant(.value(.location(let other))) = self.constant(other)
        else {
            return nil
        }
        return .value(.double(CLLocation(one).distance(from: CLLocation(other))))
    }

    private func words(_ text: ExpressionSyntax) -> ExpressionSyntax? {
        guard case .constant(.value(.string(let text))) = self.constant(text) else { return nil }
        return .list(Self.words(of: text))
    }

    /// Returns runs of letters and digits, as the server's full text has them.
    private static func words(of text: String) -> [ExpressionSyntax] {
        text.split { !$0.isLetter && !$0.isNumber }.map { .value(.string(String($0))) }
    }

    private func isTrue(_ comparison: ComparisonSyntax) -> Bool {
        if let isFound = self.search(comparison) { return isFound }
        guard let left = self.constant(comparison.left), let right = self.constant(comparison.right) else {
            return false
        }
        let relation = ConstantRelation(comparison.relation, options: comparison.options)
        if comparison.modifier == .direct { return relation.isTrue(left, right) }
        guard case .list(let elements) = left else { return false }
        return switch comparison.modifier {
        case .any: elements.contains { relation.isTrue($0, right) }
        case .all: elements.allSatisfy { relation.isTrue($0, right) }
        case .direct, .none: !elements.contains { relation.isTrue($0, right) }
        }
    }

    /// Evaluates a search for any of some words in a record; `nil` if the comparison is
    /// not a search.
    private func search(_ comparison: ComparisonSyntax) -> Bool? {
        let isRecord = self.object is CKRecord
        let isText = comparison.left == .object || comparison.left == .keyPath("allTokens")
        let isSearch =
            comparison.relation == .tokenMatches || comparison.relation == .contains && isText && isRecord
        guard isSearch, case .list(let words) = self.words(comparison.right) else {
            return isSearch ? false : nil
        }
        let source =
            comparison.left == .object && isRecord
            ? self.constant("allTokens") : self.constant(comparison.left)
        let found: [ExpressionSyntax]
        switch source {
        case .list(let tokens): found = tokens
        case .constant(.value(.string))?:
            guard case .list(let tokens)? = source.flatMap({ self.words($0) }) else { return false }
            found = tokens
        default: return false
        }
        let equal = ConstantRelation(.equals, options: "cd")
        return words.contains { word in found.contains { equal.isTrue($0, word) } }
    }
}

extension PredicateEvaluation {
    /// Returns the system's value, even if the record has a field of the same name.
    private static func value(of field: SystemField, in record: CKRecord) -> Any? {
        switch field {
        case .recordID: record.recordID
        case .createTime: record.creationDate
        case .createdBy: record.creatorUserRecordID
        case .modTime: record.modificationDate
        case .modifiedBy: record.lastModifiedUserRecordID
        case .etag: record.recordChangeTag
        case .parent: record.parent
        case .allText: nil
        }
    }
}
