import RecordModel

/// The arguments of a format's conversions, in their order.
struct FormatArguments {
    private let arguments: [ExpressionSyntax]
    private var position = 0

    init(_ arguments: [ExpressionSyntax]) {
        self.arguments = arguments
    }

    /// Returns the next argument, converted, or the text of the error.
    mutating func next(_ conversion: FormatConversion) -> Result<ExpressionSyntax, Mismatch> {
        guard self.position < self.arguments.count else {
            return .failure(
                Mismatch(text: "Insufficient arguments for conversion characters specified in format string")
            )
        }
        let argument = self.arguments[self.position]
        self.position += 1
        let mismatch = Mismatch(text: "argument \(self.position) does not fit '%\(conversion.rawValue)'")
        if conversion == .object { return .success(argument) }
        switch argument {
        case .constant(.value(.string(let key))) where conversion == .key && !key.isEmpty:
            return .success(.keyPath(key))
        case .constant(.value(.int64(let integer))) where conversion.isFloatingPoint:
            return .success(.value(.double(Double(integer))))
        case .constant(.value(.double)) where conversion.isFloatingPoint: return .success(argument)
        case .constant(.value(.int64)) where conversion != .key: return .success(argument)
        default: return .failure(mismatch)
        }
    }

    struct Mismatch: Error {
        var text: String
    }
}
