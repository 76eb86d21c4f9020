import Foundation
import PredicateFormat
import RecordModel

/// A predicate in an archive: its format and its constants, or why it can't be archived.
struct PredicateArchive {
    let format: String
    let parsed: Result<PredicateSyntax, PredicateFailure>

    init(format: String, parsed: Result<PredicateSyntax, PredicateFailure>) {
        self.format = format
        self.parsed = parsed
    }

    /// Reads a predicate; `nil` if there is none.
    init?(_ body: ArchivedBody) {
        guard let format = body.text("format") else { return nil }
        self.format = format
        if let problem = body.text("problem") {
            self.parsed = .failure(
                body.integer("offset").map {
                    .unparsable(format: format, offset: Int(truncatingIfNeeded: $0), problem: problem)
                } ?? .unsupported(predicate: format, problem: problem)
            )
            return
        }
        var arguments: [FieldValue] = []
        while let argument = body.value(Self.argumentName(arguments.count)) { arguments.append(argument) }
        let template = PredicateTemplate(format: format, arguments: arguments)
        do throws(PredicateFailure) {
            self.parsed = .success(try PredicateSyntax(template))
        } catch {
            self.parsed = .failure(error)
        }
    }

    /// The parts to write: only those that can be read again.
    var parts: [Field] {
        let failure: PredicateFailure
        switch self.parsed {
        case .failure(let error):
            failure = error
        case .success(let syntax):
            if let template = PredicateTemplate(syntax), template.arguments.count < Bounds.fieldsMax / 2 {
                let arguments = template.arguments.enumerated().map { index, argument in
                    Field(Self.argumentName(index), argument)
                }
                return arguments + [Field("format", .string(template.format))]
            }
            failure = Self.failure(of: syntax)
        }
        switch failure {
        case .unparsable(let format, let offset, let problem):
            return [
                Field("format", .string(format)), Field("offset", .int64(Int64(offset))),
                Field("problem", .string(problem)),
            ]
        case .unsupported(let predicate, let problem):
            return [Field("format", .string(predicate)), Field("problem", .string(problem))]
        }
    }

    /// Returns why a query refuses a part that can't be written.
    private static func failure(of syntax: PredicateSyntax) -> PredicateFailure {
        do throws(PredicateFailure) {
            _ = try RecordModel.Predicate(syntax, nowSeconds: 0)
            return .unsupported(predicate: syntax.printed, problem: "too large to be kept")
        } catch {
            return error
        }
    }

    private static func argumentName(_ index: Int) -> String { "argument\(index)" }
}

extension PredicateArchive {
    /// Makes the archive of a predicate of any kind.
    init(_ predicate: NSPredicate) {
        if let predicate = predicate as? _CKFormatPredicate {
            self.init(format: predicate.format, parsed: predicate.parsed)
            return
        }
        do throws(PredicateFailure) {
            let syntax = try PredicateSyntax(predicate)
            self.init(format: syntax.printed, parsed: .success(syntax))
        } catch {
            self.init(format: "BLOCKPREDICATE", parsed: .failure(error))
        }
    }
}
