/// A server's metric in a readable form.
enum MetricName {
    /// `tidemark_requests_total{operation="fetch_records"}` becomes "requests: fetch records".
    static func words(_ metric: String) -> String {
        let parts = metric.split(separator: "{", maxSplits: 1)
        var name = parts.first ?? ""
        if name.hasPrefix("tidemark_") { name = name.dropFirst("tidemark_".count) }
        if name.hasSuffix("_total") { name = name.dropLast("_total".count) }
        let words = String(name.replacing("_", with: " "))
        guard parts.count == 2 else { return words }
        let labels = parts[1].split(separator: "\"").enumerated().filter { !$0.offset.isMultiple(of: 2) }
        return words + ": " + labels.map { $0.element.replacing("_", with: " ") }.joined(separator: ", ")
    }
}
