public import Foundation
import PredicateFormat

/// Gives `NSPredicate` the initialisers with a format, which Foundation on Linux declares unavailable.
///
/// Not to be used from outside. An initialiser of a protocol may assign `self`, so that what is made is of a subclass that
/// knows what the format says; one of a class extension could not. The same signatures win over the unavailable ones.
public protocol _CKPredicateFactory {}

extension NSPredicate: _CKPredicateFactory {}

extension _CKPredicateFactory {
    /// Makes a predicate of a format and the values that its conversions stand for.
    ///
    /// Nothing is thrown or raised for a malformed format: the predicate is false of everything, and a query with it fails with
    /// `CKError.Code.invalidArguments`.
    public init(format predicateFormat: String, _ args: any CVarArg...) {
        self.init(_CKFormatPredicate(format: predicateFormat, arguments: args))
    }

    /// Makes a predicate of a format and an array of the values that its conversions stand for.
    public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        self.init(_CKFormatPredicate(format: predicateFormat, arguments: arguments ?? []))
    }

    /// Makes a predicate of a format and a C list of the values that its conversions stand for.
    ///
    /// As with every such list, the format alone says what is read from it. Numbers and strings only: Swift on Linux puts the
    /// description of any other object into the list.
    public init(format predicateFormat: String, arguments argList: CVaListPointer) {
        let arguments = VariadicList(argList).objects(format: predicateFormat)
        self.init(_CKFormatPredicate(format: predicateFormat, arguments: arguments))
    }

    private init(_ predicate: NSPredicate) {
        guard let predicate = predicate as? Self else {
            preconditionFailure("\(Self.self) has no initialiser with a format: use NSPredicate's")
        }
        self = predicate
    }
}
