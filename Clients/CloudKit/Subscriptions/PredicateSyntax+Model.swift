import Foundation
import PredicateFormat
import RecordModel

extension PredicateSyntax {
    /// Makes the syntax that a user would have written for a server's predicate.
    ///
    /// A predicate that no format can ask (a list that contains all of several values) gets
    /// Foundation's syntax, and is refused when it is sent again.
    init(_ predicate: RecordModel.Predicate) {
        switch predicate {
        case .all: self = .value(true)
        case .nothing: self = .value(false)
        case .and(let parts): self = .and(parts.map { PredicateSyntax($0) })
        case .or(let parts): self = .or(parts.map { PredicateSyntax($0) })
        case .comparison(let comparison):
            let positive = ComparisonSyntax(comparison)
            let isNegated = comparison.comparator.isNegated && comparison.comparator != .notEquals
            self = isNegated ? .not(.comparison(positive)) : .comparison(positive)
        }
    }
}

extension ComparisonSyntax {
    /// Makes the syntax of a comparison; a negation becomes its opposite, unless it has an operator
    /// of its own.
    fileprivate init(_ comparison: RecordModel.Comparison) {
        let key = ExpressionSyntax.keyPath(SystemField.key(fieldName: comparison.field))
        let operand = ExpressionSyntax(comparison.operand)
        switch comparison.comparator {
        case .equals: self.init(key, .equals, operand)
        case .notEquals: self.init(key, .notEquals, operand)
        case .lessThan: self.init(key, .lessThan, operand)
        case .lessThanOrEquals: self.init(key, .lessThanOrEquals, operand)
        case .greaterThan: self.init(key, .greaterThan, operand)
        case .greaterThanOrEquals: self.init(key, .greaterThanOrEquals, operand)
        case .near:
            let distance = ExpressionSyntax.function("distanceToLocation:fromLocation:", [key, operand])
            self.init(distance, .lessThanOrEquals, .value(.double(comparison.distanceMetres)))
        case .containsAllTokens:
            let words = ExpressionSyntax.function("tokenize:using:", [operand, .value(.string("Cdl"))])
            self.init(words, .in, key, modifier: .all)
        case .containsAnyTokens: self.init(key, .tokenMatches, operand, options: "cdl")
        case .in, .notIn: self.init(key, .in, operand)
        case .beginsWith, .notBeginsWith: self.init(key, .beginsWith, operand)
        case .listContains, .listNotContains: self.init(key, .contains, operand)
        case .listContainsAny, .listNotContainsAny: self.init(key, .in, operand, modifier: .any)
        case .listContainsAll, .notListContainsAll: self.init(operand, .in, key, modifier: .all)
        case .listMemberBeginsWith, .notListMemberBeginsWith:
            self.init(key, .beginsWith, operand, modifier: .any)
        }
    }
}

extension SystemField {
    /// Returns the key of a field in Apple's public spelling.
    fileprivate static func key(fieldName: String) -> String {
        switch SystemField(rawValue: fieldName) {
        case .recordID: "recordID"
        case .createTime: "creationDate"
        case .createdBy: "creatorUserRecordID"
        case .modTime: "modificationDate"
        case .modifiedBy: "lastModifiedUserRecordID"
        case .parent: "parent"
        case .allText: "allTokens"
        case .etag, nil: fieldName
        }
    }
}

extension NSPredicate {
    /// Makes the predicate that a user would have made for a server's predicate.
    static func made(of predicate: RecordModel.Predicate) -> NSPredicate {
        switch predicate {
        case .all: return NSPredicate(value: true)
        case .nothing: return NSPredicate(value: false)
        case .comparison, .and, .or:
            let syntax = PredicateSyntax(predicate)
            return _CKFormatPredicate(PredicateArchive(format: syntax.printed, parsed: .success(syntax)))
        }
    }
}
