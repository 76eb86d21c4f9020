public import Foundation
import PredicateFormat

/// A predicate that was made from a format.
///
/// Not to be used from outside: `NSPredicate(format:)` makes it. Equality and hash are by what is said.
public final class _CKFormatPredicate: NSPredicate, NSSecureCoding {
    /// The format as it was written.
    let format: String
    let parsed: Result<PredicateSyntax, PredicateFailure>

    init(format: String, arguments: [Any]) {
        self.format = format
        do throws(PredicateFailure) {
            let expressions = arguments.map { ExpressionSyntax(argument: $0) }
            self.parsed = .success(try PredicateSyntax(format: format, arguments: expressions))
        } catch {
            self.parsed = .failure(error)
        }
        super.init(value: false)
    }

    init(_ archive: PredicateArchive) {
        self.format = archive.format
        self.parsed = archive.parsed
        super.init(value: false)
    }

    /// Reads an archived predicate; `nil` when the archive has none.
    public init?(coder: NSCoder) {
        guard let archive = coder.archivedBody().flatMap({ PredicateArchive($0) }) else { return nil }
        self.format = archive.format
        self.parsed = archive.parsed
        super.init(value: false)
    }

    /// Writes the predicate into an archive, in one encoding for one predicate.
    public func encode(with coder: NSCoder) {
        coder.encodeBody(PredicateArchive(format: self.format, parsed: self.parsed).parts)
    }

    /// Whether predicates may be read where secure coding is required: always.
    public static var supportsSecureCoding: Bool { true }

    /// What the predicate says, with its arguments; what was written when that is no predicate.
    public override var predicateFormat: String {
        switch self.parsed {
        case .success(let syntax): syntax.printed
        case .failure: self.format
        }
    }

    /// Returns the predicate itself, which never changes.
    public override func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is a predicate that says the same.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? _CKFormatPredicate else { return false }
        return self.parsed == other.parsed
    }

    /// The hash of what is said.
    public override var hash: Int { self.parsed.hashValue }

    /// What the predicate says.
    public override var description: String {
        switch self.parsed {
        case .success(let syntax): syntax.printed
        case .failure: self.format
        }
    }

    /// Returns whether the predicate is true of a record, a dictionary, or a value that a field can have.
    ///
    /// It says what Foundation's would, beyond what queries can ask: a list's `ALL`, patterns, modifiers and `nil` count.
    /// Calculations, subqueries and other objects do not: false.
    public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        guard case .success(let syntax) = self.parsed else { return false }
        let variables = (bindings ?? [:]).mapValues { ExpressionSyntax(argument: $0) }
        return PredicateEvaluation(of: object, variables: variables).isTrue(syntax)
    }
}
