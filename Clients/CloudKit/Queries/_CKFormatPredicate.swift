public import Foundation
import PredicateFormat

/// A predicate that was made from a format.
///
/// Not to be used from outside: `NSPredicate(format:)` makes it. Equality and hash are by meaning.
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

    /// Reads an archived predicate; `nil` if the archive has none.
    public init?(coder: NSCoder) {
        guard let archive = coder.archivedBody().flatMap({ PredicateArchive($0) }) else { return nil }
        self.format = archive.format
        self.parsed = archive.parsed
        super.init(value: false)
    }

    /// Writes the predicate into an archive; equal contents give equal bytes.
    public func encode(with coder: NSCoder) {
        coder.encodeBody(PredicateArchive(format: self.format, parsed: self.parsed).parts)
    }

    /// Always `true`: predicates can be read where secure coding is required.
    public static var supportsSecureCoding: Bool { true }

    /// The predicate's format with its arguments; the original text if that is not a predicate.
    public override var predicateFormat: String {
        switch self.parsed {
        case .success(let syntax): syntax.printed
        case .failure: self.format
        }
    }

    /// Returns the predicate itself, which never changes.
    public override func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether an object is a predicate with the same meaning.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? _CKFormatPredicate else { return false }
        return self.parsed == other.parsed
    }

    /// The hash of the predicate's meaning.
    public override var hash: Int { self.parsed.hashValue }

    /// The predicate's format.
    public override var description: String {
        switch self.parsed {
        case .success(let syntax): syntax.printed
        case .failure: self.format
        }
    }

    /// Returns whether the predicate is true of a record, a dictionary, or a value that a field can
    /// have.
    ///
    /// It agrees with Foundation's beyond what queries can ask: `ALL` of a list, patterns,
    /// modifiers and `nil` are evaluated. Calculations, subqueries and other objects are not, and
    /// give `false`.
    public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        guard case .success(let syntax) = self.parsed else { return false }
        let variables = (bindings ?? [:]).mapValues { ExpressionSyntax(argument: $0) }
        return PredicateEvaluation(of: object, variables: variables).isTrue(syntax)
    }
}
