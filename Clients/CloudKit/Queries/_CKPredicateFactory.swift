public import Foundation
import PredicateFormat

/// Gives `NSPredicate` the initialisers with a format, which Foundation on Linux declares
/// unavailable.
///
/// Not to be used from outside. An initialiser of a protocol may assign `self`, so it can make an
/// instance of a subclass that has the format; one of a class extension could not. The same
/// signatures win over the unavailable ones.
public protocol _CKPredicateFactory {}

extension NSPredicate: _CKPredicateFactory {}

extension _CKPredicateFactory {
    /// Makes a predicate from a format and the values of its conversions.
    ///
    /// A malformed format throws and raises nothing. The predicate is then false for everything,
    /// and a query with it fails with `CKError.Code.invalidArguments`.
    ///
    /// - Parameters:
    ///   - predicateFormat: A condition in Apple's format language, at most 256 KiB.
    ///   - args: The values of `%@`, `%K`, `%d` and the like, in order.
    public init(format predicateFormat: String, _ args: any CVarArg...) {
        self.init(_CKFormatPredicate(format: predicateFormat, arguments: args))
    }

    /// Makes a predicate from a format and an array of the values of its conversions.
    ///
    /// - Parameters:
    ///   - predicateFormat: A condition in Apple's format language, at most 256 KiB.
    ///   - arguments: The values of the conversions, in order; `nil` if there are none.
    public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        self.init(_CKFormatPredicate(format: predicateFormat, arguments: arguments ?? []))
    }

    /// Makes a predicate from a format and a C list of the values of its conversions.
    ///
    /// As with every such list, only the format says what is read from it. It takes numbers and
    /// strings alone: Swift on Linux puts the description of any other object into the list.
    ///
    /// - Parameters:
    ///   - predicateFormat: A condition in Apple's format language, at most 256 KiB.
    ///   - argList: The values of the conversions, in order, of the types that they say.
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
