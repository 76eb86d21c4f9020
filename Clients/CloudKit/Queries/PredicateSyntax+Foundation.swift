import Foundation
import PredicateFormat

extension PredicateSyntax {
    /// Reads a predicate of Foundation: one from a format, or composed of such.
    ///
    /// - Throws: `PredicateFailure` for a predicate with a block, or nested deeper than a format
    ///   could be.
    init(_ predicate: NSPredicate) throws(PredicateFailure) {
        try self.init(predicate, level: 1)
    }

    private init(_ predicate: NSPredicate, level: Int) throws(PredicateFailure) {
        guard level <= Self.nestingMax else {
            throw .unsupported(predicate: "…", problem: "more than \(Self.nestingMax) levels")
        }
        // Compounds come first: to Foundation they equal a value.
        switch predicate {
        case let predicate as _CKFormatPredicate: self = try predicate.parsed.get()
        case let compound as NSCompoundPredicate: self = try Self.compound(compound, level: level)
        case NSPredicate(value: true): self = .value(true)
        case NSPredicate(value: false): self = .value(false)
        default:
            throw .unsupported(predicate: "BLOCKPREDICATE", problem: "block predicates are not supported")
        }
    }

    private static func compound(
        _ compound: NSCompoundPredicate,
        level: Int
    ) throws(PredicateFailure) -> PredicateSyntax {
        var parts: [PredicateSyntax] = []
        parts.reserveCapacity(compound.subpredicates.count)
        for predicate in compound.subpredicates {
            parts.append(try PredicateSyntax(predicate, level: level + 1))
        }
        switch compound.compoundPredicateType {
        case .and: return .and(parts)
        case .or: return .or(parts)
        case .not:
            guard parts.count == 1 else {
                throw .unsupported(predicate: "NOT", problem: "NOT takes one predicate")
            }
            return .not(parts[0])
        }
    }
}
