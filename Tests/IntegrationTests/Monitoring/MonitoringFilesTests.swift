import Foundation
import MonitoringEndpoint
import TestSupport
import Testing

@testable import tidemark

/// The alert rules and the dashboard name what a server really writes.
@Suite(.timeLimit(.minutes(10)))
struct MonitoringFilesTests {
    private static func text(_ name: String) throws -> String {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let path = folder.appendingPathComponent("../../../Sources/tidemark/Monitoring/\(name)")
        return try String(contentsOf: path, encoding: .utf8)
    }

    /// What a server that has just started writes: every name with every value of its labels.
    private func exposition() async throws -> ExpositionGrammar {
        let folder = try TemporaryDirectory()
        let address = EndpointAddress.unix(path: folder.path + "/m.sock")
        let server = try await ServerUnderTest.start(
            data: folder.path + "/data",
            "--metrics-listen",
            address.description
        )
        let response = try await HTTPPeer.ask(address, "/metrics")
        server.process.signal(SIGTERM)
        #expect(await server.process.outcome().exitCode == 0)
        // Metrics of the programs that make and rehearse backups beside the server.
        let time = Moment(milliseconds: 1)
        let backup = FollowFigures(time: time, base: time)
        var drill = DrillReport(backup: "b")
        drill.ageSeconds = 1
        return ExpositionGrammar(response.body + backup.metrics + drill.metrics)
    }

    private struct Dashboard: Decodable {
        struct Target: Decodable {
            let expr: String
            let legendFormat: String
            let refId: String
        }
        struct Position: Decodable { let h, w, x, y: Int }
        struct Panel: Decodable {
            let id: Int
            let title: String
            let gridPos: Position
            let targets: [Target]
        }
        struct Variable: Decodable {
            let name: String
            let query: String
        }
        struct Templating: Decodable { let list: [Variable] }
        let uid: String
        let panels: [Panel]
        let templating: Templating
    }

    @Test
    func `each alert names metrics, labels and values that a server writes, and has a runbook`() async throws
    {
        let rules = AlertRules(try Self.text("alerts.yml"))
        #expect(rules.faults == [])
        #expect(rules.rules.count >= 10)
        let exposition = try await self.exposition()
        for rule in rules.rules {
            let query = PrometheusQuery(rule.fields["expr"] ?? "")
            #expect(!query.selectors.isEmpty, "\(rule.name)")
            #expect(query.errors(against: exposition) == [], "\(rule.name)")
        }
    }

    @Test
    func `each panel names metrics and labels that a server writes, at a place of its own`() async throws {
        let dashboard = try JSONDecoder().decode(Dashboard.self, from: Data(Self.text("dashboard.json").utf8))
        let exposition = try await self.exposition()
        #expect(Set(dashboard.panels.map(\.id)).count == dashboard.panels.count)
        #expect(Set(dashboard.panels.map { [$0.gridPos.x, $0.gridPos.y] }).count == dashboard.panels.count)
        for panel in dashboard.panels {
            #expect(panel.gridPos.x + panel.gridPos.w <= 24)
            #expect(Set(panel.targets.map(\.refId)).count == panel.targets.count)
            for target in panel.targets {
                let query = PrometheusQuery(target.expr)
                #expect(!query.selectors.isEmpty, "\(panel.title)")
                #expect(query.errors(against: exposition) == [], "\(panel.title): \(target.expr)")
                for match in target.legendFormat.matches(of: /\{\{([a-z]+)\}\}/) {
                    #expect(query.groupLabels.contains(String(match.1)), "\(panel.title)")
                }
            }
        }
        let instance = try #require(dashboard.templating.list.first { $0.name == "instance" })
        #expect(PrometheusQuery(instance.query).errors(against: exposition) == [])
    }

    @Test(
        arguments: [
            ("rate(tidemark_commit_total[5m])", "no metric tidemark_commit_total"),
            ("tidemark_log_sync_duration_seconds > 1", "no metric tidemark_log_sync_duration_seconds"),
            ("tidemark_requests_total{op=\"listen\"}", "tidemark_requests_total has no label op"),
            ("tidemark_requests_total{operation=\"save\"}", "tidemark_requests_total has no operation save"),
            ("tidemark_failures_total{code=~\"zone_busy|busy\"}", "tidemark_failures_total has no code busy"),
            ("sum by (operation) (rate(tidemark_commits_total[5m]))", "no label operation"),
            ("ratee(tidemark_commits_total[5m])", "an unknown function: ratee"),
            ("sum(rate(tidemark_commits_total[5m])", "parentheses do not match"),
            ("tidemark_commits_total ? 1", "not understood: ?"),
        ]
    )
    func `a planted offender is seen`(expression: String, error: String) async throws {
        let exposition = try await self.exposition()
        #expect(PrometheusQuery(expression).errors(against: exposition).contains(error))
    }

    @Test(
        arguments: [
            ("        expr: tidemark_commits_total == 0\n", "A has no runbook"),
            ("        expr: 1\n        expr: 2\n", "not understood:         expr: 2"),
            ("        for: soon\n", "A waits for no time"),
            ("        xpr: 1\n", "not understood:         xpr: 1"),
            ("        labels:\n          severity: high\n", "A has no severity"),
            ("        expr: a: b\n", "not understood:         expr: a: b"),
        ]
    )
    func `a wrong rule is seen`(lines: String, fault: String) {
        let text = "groups:\n  - name: tidemark\n    rules:\n      - alert: A\n" + lines
        #expect(AlertRules(text).faults.contains(fault))
    }
}
