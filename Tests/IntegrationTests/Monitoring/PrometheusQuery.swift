import Foundation

/// The metrics and labels that an expression of PromQL names.
///
/// Reads as much of the language as the rules and the dashboard use; what it does not know is a
/// fault.
struct PrometheusQuery {
    struct Selector: Equatable {
        var metric: String
        /// Label, operator and value.
        var matchers: [[String]] = []
    }

    private static let functions: Set = [
        "rate", "increase", "sum", "changes", "histogram_quantile", "time", "label_values", "max", "min",
    ]
    private static let keywords: Set = ["by", "without", "on", "and", "or", "unless", "bool", "offset"]

    private static let token =
        #"""
        "(?:[^"\\]|\\.)*"|\[[^\]]*\]|[A-Za-z_:][A-Za-z0-9_:]*|[0-9][0-9.e]*|=~|!~|!=|==|>=|<=|[-+*/(){},=<>]
        """#

    private(set) var selectors: [Selector] = []
    /// Of `by`, `without` and `on`.
    private(set) var groupLabels: [String] = []
    private(set) var faults: [String] = []

    init(_ text: String) {
        let tokens = self.tokens(of: text)
        if tokens.count(where: { $0 == "(" }) != tokens.count(where: { $0 == ")" }) {
            self.faults.append("parentheses do not match")
        }
        var index = 0
        while index < tokens.count { index = self.read(tokens, at: index) }
    }

    private mutating func tokens(of text: String) -> [String] {
        guard let pattern = try? Regex(Self.token, as: Substring.self) else { return [] }
        let rest = text.replacing(pattern, with: "").replacing(" ", with: "")
        if !rest.isEmpty { self.faults.append("not understood: \(rest)") }
        return text.matches(of: pattern).map { String($0.output) }
    }

    /// - Returns: Where the next part begins.
    private mutating func read(_ tokens: [String], at index: Int) -> Int {
        let token = tokens[index]
        let next = index + 1 < tokens.count ? tokens[index + 1] : ""
        if Self.keywords.contains(token), next == "(" {
            let end = tokens[index...].firstIndex(of: ")") ?? tokens.count
            self.groupLabels += tokens[index..<end].dropFirst(2).filter { $0 != "," }
            return end + 1
        }
        let isName = token.first?.isLetter == true || token.first == "_"
        guard isName, !Self.functions.contains(token), !Self.keywords.contains(token) else {
            return index + 1
        }
        if next == "(" { self.faults.append("an unknown function: \(token)") }
        return self.read(tokens, selectorAt: index)
    }

    /// - Returns: Where the selector ends.
    private mutating func read(_ tokens: [String], selectorAt start: Int) -> Int {
        var selector = Selector(metric: tokens[start])
        var end = start + 1
        if end < tokens.count, tokens[end] == "{" {
            let close = tokens[end...].firstIndex(of: "}") ?? tokens.count
            for matcher in tokens[(end + 1)..<close].split(separator: ",") {
                if matcher.count != 3 { self.faults.append("a wrong matcher of \(selector.metric)") }
                selector.matchers.append(Array(matcher))
            }
            end = close + 1
        }
        self.selectors.append(selector)
        return end
    }
}

extension PrometheusQuery {
    /// Labels that the collector adds.
    private static let targetLabels: Set = ["job", "instance"]
    private static let variable = "$instance"

    /// What a server does not write of what the expression names.
    func errors(against exposition: ExpositionGrammar) -> [String] {
        var errors = self.faults
        var known = Self.targetLabels
        for selector in self.selectors {
            if selector.metric == "up" { continue }
            // `label_values(metric, label)` names a label where a metric could be.
            if Self.targetLabels.contains(selector.metric) { continue }
            let labels = exposition.labels(of: selector.metric)
            guard let labels else {
                errors.append("no metric \(selector.metric)")
                continue
            }
            known.formUnion(labels.keys)
            for matcher in selector.matchers where matcher.count == 3 {
                guard !Self.targetLabels.contains(matcher[0]) else { continue }
                guard let values = labels[matcher[0]] else {
                    errors.append("\(selector.metric) has no label \(matcher[0])")
                    continue
                }
                for value in matcher[2].dropFirst().dropLast().split(separator: "|")
                where !values.contains(String(value)) {
                    errors.append("\(selector.metric) has no \(matcher[0]) \(value)")
                }
            }
        }
        for label in self.groupLabels where !known.contains(label) { errors.append("no label \(label)") }
        return errors
    }
}

extension ExpositionGrammar {
    /// The values of each label of the samples with a name; `nil` if there is no such sample.
    func labels(of name: String) -> [String: Set<String>]? {
        var labels: [String: Set<String>] = [:]
        var isThere = false
        for sample in self.families.values.flatMap(\.samples.keys) {
            let parts = sample.split(separator: "{", maxSplits: 1)
            guard parts.first.map(String.init) == name else { continue }
            isThere = true
            for match in (parts.count > 1 ? parts[1] : "").matches(of: /([a-z_]+)="([^"]*)"/) {
                labels[String(match.1), default: []].insert(String(match.2))
            }
        }
        return isThere ? labels : nil
    }
}
