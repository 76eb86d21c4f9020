import RecordServer
import StorageContract

/// Metrics in Prometheus' text exposition format.
///
/// - Source: Prometheus, *Exposition formats*, text format 0.0.4.
enum Exposition {
    /// Writes metrics in the order of their table.
    static func text(of metrics: [Metric]) -> String {
        let metrics = Dictionary(metrics.map { ($0.name, $0) }) { $1 }
        var text = ""
        for name in MetricName.allCases {
            guard let metric = metrics[name] else { continue }
            text += "# HELP \(name.rawValue) \(self.escaped(name.help))\n"
            text += "# TYPE \(name.rawValue) \(name.kind.rawValue)\n"
            for sample in metric.samples { self.append(sample, of: name.rawValue, to: &text) }
        }
        return text
    }

    private static func append(_ sample: Metric.Sample, of name: String, to text: inout String) {
        switch sample.value {
        case .number(let value):
            text += self.line(name, sample.labels, self.number(value))
        case .durations(let durations):
            let bounds = DurationCounts.boundsNanoseconds.map { self.number(Double($0) / 1e9) } + ["+Inf"]
            var sum: Int64 = 0
            for (offset, bound) in bounds.enumerated() {
                if !durations.counts.isEmpty { sum += durations.counts[offset] }
                text += self.line(name + "_bucket", sample.labels + [("le", bound)], "\(sum)")
            }
            let seconds = self.number(Double(durations.sumNanoseconds) / 1e9)
            text += self.line(name + "_sum", sample.labels, seconds)
            text += self.line(name + "_count", sample.labels, "\(sum)")
        }
    }

    private static func line(
        _ name: String,
        _ labels: [(name: String, value: String)],
        _ value: String
    ) -> String {
        guard !labels.isEmpty else { return "\(name) \(value)\n" }
        let pairs = labels.map { label in
            "\(label.name)=\"\(self.escaped(label.value).replacing("\"", with: "\\\""))\""
        }
        return "\(name){\(pairs.joined(separator: ","))} \(value)\n"
    }

    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }
}
