import Testing

/// Reads Prometheus' text exposition format as strictly as its description.
///
/// - Source: Prometheus, *Exposition formats*, "Text format details" of version 0.0.4.
struct ExpositionGrammar {
    struct Family {
        var help: String?
        var type: String?
        /// Values by name and labels, as written.
        var samples: [String: Double] = [:]
    }

    private(set) var families: [String: Family] = [:]
    private(set) var faults: [String] = []
    private var last = ""

    init(_ text: String) {
        if text.last != "\n" { self.faults.append("the last line has no end") }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if !self.read(line) { self.faults.append("not understood: \(line)") }
        }
        for (name, family) in self.families {
            if family.help == nil { self.faults.append("\(name) has no HELP") }
            if family.type == nil { self.faults.append("\(name) has no TYPE") }
            if family.samples.isEmpty { self.faults.append("\(name) has no sample") }
            if family.type == "histogram" { self.checkHistogram(name, family) }
        }
    }

    func value(_ sample: String) -> Double? {
        self.families.values.lazy.compactMap { $0.samples[sample] }.first
    }

    private mutating func read(_ line: Substring) -> Bool {
        if let match = line.wholeMatch(of: /# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)/) {
            return self.readComment(String(match.1), String(match.2), String(match.3))
        }
        let label = #"[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\["\\n])*""#
        let pattern = #"([a-zA-Z_:][a-zA-Z0-9_:]*)(\{\#(label)(?:,\#(label))*\})? (\S+)"#
        guard let regex = try? Regex(pattern, as: (Substring, Substring, Substring?, Substring).self),
            let match = line.wholeMatch(of: regex), let value = Double(match.3)
        else { return false }
        let family = self.family(of: String(match.1))
        guard family == self.last, self.families[family]?.type != nil else { return false }
        let sample = String(match.1) + (match.2 ?? "")
        return self.families[family]?.samples.updateValue(value, forKey: sample) == nil
    }

    private mutating func readComment(_ keyword: String, _ name: String, _ text: String) -> Bool {
        if name != self.last {
            // All lines of a metric stand together.
            guard self.families.updateValue(Family(), forKey: name) == nil else { return false }
            self.last = name
        }
        guard self.families[name]?.samples.isEmpty == true else { return false }
        if keyword == "HELP" {
            guard self.families[name]?.help == nil else { return false }
            self.families[name]?.help = text
            return true
        }
        guard self.families[name]?.type == nil else { return false }
        self.families[name]?.type = text
        return ["counter", "gauge", "histogram", "summary", "untyped"].contains(text)
    }

    private func family(of name: String) -> String {
        for ending in ["_bucket", "_sum", "_count"] where name.hasSuffix(ending) {
            let family = String(name.dropLast(ending.count))
            if self.families[family]?.type == "histogram" { return family }
        }
        return name
    }

    /// Buckets are cumulative, and the last one counts everything.
    private mutating func checkHistogram(_ name: String, _ family: Family) {
        let counts = family.samples.filter { $0.key.hasPrefix(name + "_count") }
        for (sample, count) in counts {
            let labels = sample.dropFirst(name.count + "_count".count).dropFirst().dropLast()
            let prefix = name + "_bucket{" + (labels.isEmpty ? "" : labels + ",") + "le=\""
            let buckets = family.samples.filter { $0.key.hasPrefix(prefix) }.compactMap { key, value in
                Double(key.dropFirst(prefix.count).dropLast(2)).map { (bound: $0, count: value) }
            }.sorted { $0.bound < $1.bound }
            let isCumulative = zip(buckets, buckets.dropFirst()).allSatisfy { $0.count <= $1.count }
            if !isCumulative || buckets.last?.bound != .infinity || buckets.last?.count != count {
                self.faults.append("the buckets of \(sample) do not add up")
            }
            let sum = sample.replacing(name + "_count", with: name + "_sum")
            if family.samples[sum] == nil { self.faults.append("\(sample) has no sum") }
        }
    }
}
