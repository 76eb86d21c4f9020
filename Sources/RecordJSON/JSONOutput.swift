/// Writes JSON in one line, without white space.
///
/// The caller writes names and values in their order; commas come by themselves.
package struct JSONOutput {
    package private(set) var text: [UInt8] = []

    package init() {}

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

    /// Writes a name; its value has to follow.
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
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): self.text += [UInt8(ascii: "\\"), byte]
            case 0x0A: self.text += "\\n".utf8
            case 0x0D: self.text += "\\r".utf8
            case 0x09: self.text += "\\t".utf8
            // DEL, too: a terminal would act on it.
            case 0..<0x20, 0x7F:
                self.text += "\\u00".utf8
                self.text += (byte < 0x10 ? "0" : "").utf8
                self.text += String(byte, radix: 16).utf8
            default: self.text.append(byte)
            }
        }
        self.text.append(UInt8(ascii: "\""))
    }
}
