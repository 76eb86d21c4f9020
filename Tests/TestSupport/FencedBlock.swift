/// A fenced block of a Markdown text.
package struct FencedBlock: Hashable, Sendable {
    /// The word behind the fence; empty if there is none.
    package let language: String
    /// The lines, each with its end.
    package let text: String
    /// The line of its fence, from 1.
    package let line: Int

    /// The blocks of a text, in order.
    package static func all(in text: String) -> [FencedBlock] {
        var blocks: [FencedBlock] = []
        var open: (language: String, text: String, line: Int)?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("```") {
                if let block = open {
                    blocks.append(FencedBlock(language: block.language, text: block.text, line: block.line))
                }
                open = open == nil ? (String(line.dropFirst(3)), "", index + 1) : nil
            } else {
                open?.text += line + "\n"
            }
        }
        return blocks
    }
}
