import Foundation

/// The rules of `alerts.yml`, read as strictly as its layout is.
///
/// Only the part of YAML that the file uses: mappings by indentation, sequences of them, plain and
/// double-quoted scalars in one line.
struct AlertRules {
    struct Rule {
        var name = ""
        var fields: [String: String] = [:]
        var labels: [String: String] = [:]
        var annotations: [String: String] = [:]
    }

    private(set) var rules: [Rule] = []
    private(set) var faults: [String] = []
    private var section = ""

    init(_ text: String) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            if !self.read(line) { self.faults.append("not understood: \(line)") }
        }
        for rule in self.rules { self.check(rule) }
        if Set(self.rules.map(\.name)).count != self.rules.count { self.faults.append("a name comes twice") }
    }

    private mutating func read(_ line: Substring) -> Bool {
        if ["groups:", "  - name: tidemark", "    rules:"].contains(line) { return self.rules.isEmpty }
        if let match = line.wholeMatch(of: /\ {6}- alert: ([A-Za-z]+)/) {
            self.rules.append(Rule(name: String(match.1)))
            self.section = ""
            return true
        }
        guard !self.rules.isEmpty else { return false }
        let last = self.rules.count - 1
        if let match = line.wholeMatch(of: /\ {8}(labels|annotations):/) {
            self.section = String(match.1)
            return true
        }
        if let match = line.wholeMatch(of: /\ {8}(expr|for): (.+)/), let value = Self.scalar(match.2) {
            return self.rules[last].fields.updateValue(value, forKey: String(match.1)) == nil
        }
        guard let match = line.wholeMatch(of: /\ {10}([a-z]+): (.+)/), let value = Self.scalar(match.2)
        else { return false }
        switch self.section {
        case "labels": return self.rules[last].labels.updateValue(value, forKey: String(match.1)) == nil
        case "annotations":
            return self.rules[last].annotations.updateValue(value, forKey: String(match.1)) == nil
        default: return false
        }
    }

    /// `nil` if YAML would read something else than the text.
    private static func scalar(_ text: Substring) -> String? {
        if text.hasPrefix("\"") {
            guard let match = text.wholeMatch(of: /"([^"\\]*)"/) else { return nil }
            return String(match.1)
        }
        let isPlain = text.firstMatch(of: /^[\[\]{}>|*&!%#`@,?:'-]|:\ |\ #|:$/) == nil
        return isPlain ? String(text) : nil
    }

    private mutating func check(_ rule: Rule) {
        let needed = ["summary", "runbook"]
        for name in needed where rule.annotations[name] == nil {
            self.faults.append("\(rule.name) has no \(name)")
        }
        if rule.fields["expr"] == nil { self.faults.append("\(rule.name) has no expr") }
        if !["page", "ticket"].contains(rule.labels["severity"]) {
            self.faults.append("\(rule.name) has no severity")
        }
        if let time = rule.fields["for"], time.wholeMatch(of: /[0-9]+[smh]/) == nil {
            self.faults.append("\(rule.name) waits for no time")
        }
    }
}
