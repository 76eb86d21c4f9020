/// Relative frequencies of steps.
struct Mix: Hashable, Sendable {
    /// The fault of a file of weights, and what to do.
    struct Malformed: Error, Hashable {
        var message: String
    }

    /// Mostly reads, some writes, few expensive steps.
    static let defaults = Mix([
        .fetch: 40, .save: 25, .query: 10, .changes: 10, .saveBatch: 2, .delete: 5, .push: 4, .assets: 2,
        .sync: 2,
    ])

    /// Each is above 0.
    let weights: [Step: Int]
    private let ordered: [Entry]
    private let sum: Int

    private struct Entry: Hashable {
        let step: Step
        let upTo: Int
    }

    init(_ weights: [Step: Int]) {
        self.weights = weights.filter { $0.value > 0 }
        var sum = 0
        self.ordered = Step.allCases.compactMap { step in
            guard let weight = weights[step], weight > 0 else { return nil }
            sum += weight
            return Entry(step: step, upTo: sum)
        }
        self.sum = sum
    }

    init(only step: Step) { self.init([step: 1]) }

    /// Reads a file with a step and its weight per line.
    ///
    /// Empty lines and comments after `#` are ignored.
    init(text: String) throws(Malformed) {
        var weights: [Step: Int] = [:]
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            if words.isEmpty { continue }
            guard words.count == 2, let step = Step(rawValue: String(words[0])), weights[step] == nil,
                let weight = Int(words[1]), (0...1_000_000).contains(weight)
            else {
                throw Malformed(
                    message: "line \(index + 1) of the mix is \"\(line)\": a line has one of "
                        + Step.allCases.map(\.rawValue).joined(separator: ", ")
                        + ", each once, and a weight from 0 to 1000000."
                )
            }
            weights[step] = weight
        }
        self.init(weights)
        guard self.sum > 0 else { throw Malformed(message: "the mix has no step with a weight above 0.") }
    }

    func has(_ step: Step) -> Bool { self.weights[step] != nil }

    /// The kinds of requests that the mix contains.
    var measured: Set<Measured> { Set(self.weights.keys.flatMap(\.allMeasured)) }

    func step(using generator: inout SplitMix64) -> Step {
        guard self.ordered.count > 1 else { return self.ordered[0].step }
        let drawn = Int.random(in: 0..<self.sum, using: &generator)
        return (self.ordered.first { drawn < $0.upTo } ?? self.ordered[0]).step
    }
}

extension Mix: Codable {
    init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([Step: Int].self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.weights)
    }
}
