/// A figure in Prometheus' text exposition format.
///
/// - Source: Prometheus, *Exposition formats*, text format 0.0.4.
struct Exposition: Hashable {
    struct Sample: Hashable {
        /// Of the family's name.
        var suffix = ""
        /// One more label, `name="value"`; empty: none.
        var label = ""
        var value: String
    }

    /// `counter`, `gauge` or `summary`.
    var type: String
    var samples: [Sample]
}

/// The name of a figure, apart from its labels.
struct Figure: Hashable, Comparable {
    let family: String
    /// As they are written, without the braces.
    let labels: String

    /// Takes a name as `MemoryMetrics` makes it: `family{name=value,name=value}`.
    init(_ name: String) {
        guard let brace = name.firstIndex(of: "{") else {
            (self.family, self.labels) = (name, "")
            return
        }
        self.family = String(name[..<brace])
        // The values are words of our own code: nothing in them needs to be escaped.
        let labels = name[brace...].dropFirst().dropLast().split(separator: ",").map { label in
            label.replacing("=", with: "=\"", maxReplacements: 1) + "\""
        }
        self.labels = labels.joined(separator: ",")
    }

    static func < (left: Figure, right: Figure) -> Bool {
        (left.family, left.labels) < (right.family, right.labels)
    }

    func line(suffix: String, label: String, value: String) -> String {
        let labels = [self.labels, label].filter { !$0.isEmpty }.joined(separator: ",")
        return "\(self.family)\(suffix)\(labels.isEmpty ? "" : "{\(labels)}") \(value)\n"
    }
}
