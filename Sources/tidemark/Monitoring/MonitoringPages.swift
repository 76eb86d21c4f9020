import MonitoringEndpoint

/// The pages of `metrics_listen`.
struct MonitoringPages: Sendable {
    /// - Source: Prometheus, *Exposition formats*, text format 0.0.4.
    private static let exposition = "text/plain; version=0.0.4; charset=utf-8"

    let health: ServerHealth
    let reading: MetricsReading

    var byPath: [String: @Sendable () async -> EndpointPage] {
        [
            "/metrics": {
                EndpointPage(
                    .ok,
                    contentType: Self.exposition,
                    text: Exposition.text(of: await self.reading.all())
                )
            },
            "/healthz": { Self.page(of: await self.health.hangs()) },
            "/readyz": { Self.page(of: await self.health.unreadiness()) },
        ]
    }

    /// One line for each reason, or `ok`.
    private static func page(of reasons: [String]) -> EndpointPage {
        guard !reasons.isEmpty else { return EndpointPage(.ok, text: "ok\n") }
        return EndpointPage(.unavailable, text: reasons.map { $0 + "\n" }.joined())
    }
}
