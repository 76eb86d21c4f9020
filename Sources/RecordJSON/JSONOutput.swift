import RecordModel

/// Writes JSON in one line, without white space.
///
/// The caller writes names and values in order; commas are inserted automatically.
package struct JSONOutput {
    package private(set) var text: [UInt8] = []
    let dates: DateForm

    package init(dates: DateForm = .milliseconds) { self.dates = dates }

    private mutating func separate() {
        switch self.text.last {
        case nil, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): return
        default: self.text.append(UInt8(ascii: ","))
        }
    }

    package mutating func object(_ body: (inout JSONOutput) -> Void) {
        self.separate()
        self.text.append(UInt8(ascii: "{"))
        body(&self)
        self.text.append(UInt8(ascii: "}"))
    }

    package mutating func array<Element>(
        _ elements: [Element],
        _ body: (inout JSONOutput, Element) -> Void
    ) {
        self.separate()
        self.text.append(UInt8(ascii: "["))
        for element in elements { body(&self, element) }
        self.text.append(UInt8(ascii: "]"))
    }

    /// Writes a name; its value must follow.
    package mutating func name(_ name: String) {
        self.string(name)
        self.text.append(UInt8(ascii: ":"))
    }

    package mutating func member(_ name: String, _ value: String) {
        self.name(name)
        self.string(value)
    }

    package mutating func member(_ name: String, literal value: String) {
        self.name(name)
        self.literal(value)
    }

    /// Writes a number, `true`, `false` or `null`.
    package mutating func literal(_ literal: String) {
        self.separate()
        self.text += literal.utf8
    }

    package mutating func string(_ string: String) {
        self.separate()
        self.text.append(UInt8(ascii: "\""))
        let isPlain = !string.utf8.contains {
            $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") || PrintedText.mayBegin(with: $0)
        }
        if isPlain { self.text += string.utf8 } else { self.escape(string) }
        self.text.append(UInt8(ascii: "\""))
    }

    /// Escapes terminal control characters, too.
    private mutating func escape(_ string: String) {
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\": self.text += [UInt8(ascii: "\\"), UInt8(scalar.value)]
            default:
                if let escape = PrintedText.escape(scalar) {
                    self.text += escape.utf8
                } else {
                    self.text += UTF8.encode(scalar).map { Array($0) } ?? []
                }
            }
        }
    }
}
