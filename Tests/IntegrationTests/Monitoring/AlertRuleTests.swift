import Foundation
import TestSupport
import Testing

/// The alert rules, executed by Prometheus' own tool on made-up series.
@Suite(.timeLimit(.minutes(10)))
struct AlertRuleTests {
    /// An alert, series with which it fires, and the same series on a good day.
    private struct Case {
        let alert: String
        /// Name and labels, then a value a minute: of a bad day, and of a good one.
        let series: [(name: String, bad: String, good: String)]
        /// When it has fired, in minutes.
        let minutes: Int
        /// Beside severity and instance.
        var labels: [String: String] = [:]
        /// As the summary prints it.
        var value = ""
    }

    private static let cases = [
        Case(
            alert: "TidemarkDown",
            series: [(#"up{instance="a",job="tidemark"}"#, "1x4 0x20", "1x30")],
            minutes: 10,
            labels: ["job": "tidemark"]
        ),
        Case(
            alert: "TidemarkRestarted",
            series: [
                (#"process_start_time_seconds{instance="a",job="tidemark"}"#, "1 1 2 3 4x20", "1 1 2 3x20")
            ],
            minutes: 10,
            labels: ["job": "tidemark"]
        ),
        Case(
            alert: "TidemarkMetricsStale",
            series: [(#"tidemark_metrics_written_timestamp_seconds{instance="a"}"#, "0x20", "0+60x20")],
            minutes: 10
        ),
        Case(
            alert: "TidemarkInternalErrors",
            series: [
                (#"tidemark_failures_total{instance="a",code="internal_error"}"#, "0x4 1x20", "3x30")
            ],
            minutes: 8,
            labels: ["code": "internal_error"]
        ),
        Case(
            alert: "TidemarkRefusesForLoad",
            series: [
                (#"tidemark_failures_total{instance="a",code="zone_busy"}"#, "0+60x60", "0+4x60"),
                (#"tidemark_requests_total{instance="a",operation="fetch_records"}"#, "0+100x60", "0+100x60"),
            ],
            minutes: 30
        ),
        Case(
            alert: "TidemarkSavesSlow",
            series: Self.buckets(
                "tidemark_request_duration_seconds_bucket",
                "0.5",
                #",operation="modify_records""#
            ),
            minutes: 30
        ),
        Case(
            alert: "TidemarkDiskSlow",
            series: Self.buckets("tidemark_log_sync_duration_seconds_bucket", "0.25", ""),
            minutes: 30
        ),
        Case(
            alert: "TidemarkQueueLong",
            series: [(#"tidemark_requests_waiting{instance="a"}"#, "2000x30", "1000x30")],
            minutes: 10
        ),
        Case(
            alert: "TidemarkConnectionsRefused",
            series: [(#"tidemark_connections_refused_total{instance="a"}"#, "0+1x30", "7x30")],
            minutes: 10
        ),
        Case(
            alert: "TidemarkDiskFull",
            series: [(#"tidemark_disk_reserve_missing_bytes{instance="a"}"#, "4096x30", "0x30")],
            minutes: 10
        ),
        Case(
            alert: "TidemarkDiskFailing",
            series: [(#"tidemark_disk_failing{instance="a"}"#, "0x4 1x20", "0x30")],
            minutes: 6
        ),
        Case(
            alert: "TidemarkPagesDamaged",
            series: [(#"tidemark_damaged_page_reads_total{instance="a"}"#, "0x4 2x20", "0x30")],
            minutes: 6
        ),
        Case(
            alert: "TidemarkAssetDamaged",
            series: [(#"tidemark_assets_damaged_total{instance="a"}"#, "0x4 1x20", "2x30")],
            minutes: 8
        ),
        Case(
            alert: "TidemarkDiskAlmostFull",
            series: [
                (#"tidemark_disk_free_bytes{instance="a"}"#, "500000000x30", "2000000000x30"),
                (#"tidemark_database_log_bytes{instance="a"}"#, "50000000x30", "50000000x30"),
            ],
            minutes: 20,
            value: "476.8Mi"
        ),
        Case(
            alert: "TidemarkQuotaRefusals",
            series: [(#"tidemark_failures_total{instance="a",code="quota_exceeded"}"#, "0+10x90", "0+1x90")],
            minutes: 70,
            labels: ["code": "quota_exceeded"]
        ),
        Case(
            alert: "TidemarkBackupBehind",
            series: [(#"tidemark_backup_follow_time_seconds{instance="a"}"#, "0x60", "0+60x60")],
            minutes: 30
        ),
        Case(
            alert: "TidemarkBackupOld",
            series: [(#"tidemark_backup_time_seconds{instance="a"}"#, "0x3000", "0x2000 120000x999")],
            minutes: 2_900
        ),
        Case(
            alert: "TidemarkDrillFailed",
            series: [(#"tidemark_backup_drill_success{instance="a"}"#, "1x4 0x20", "1x30")],
            minutes: 10
        ),
        Case(
            alert: "TidemarkCertificateEnds",
            series: [Self.certificateEnd(bad: 30 * 86_400, good: 31 * 86_400)],
            minutes: 20
        ),
        Case(
            alert: "TidemarkCertificateEndsNow",
            series: [Self.certificateEnd(bad: 7 * 86_400, good: 8 * 86_400)],
            minutes: 20
        ),
        Case(
            alert: "TidemarkNotificationsBehind",
            series: [(#"tidemark_notification_changes_waiting{instance="a"}"#, "20000x30", "100x30")],
            minutes: 10
        ),
    ]

    private static func certificateEnd(bad: Int, good: Int) -> (name: String, bad: String, good: String) {
        (#"tidemark_certificate_end_timestamp_seconds{instance="a"}"#, "\(bad)x30", "\(good)x30")
    }

    /// A histogram in which 5 % are above a bound, or none.
    private static func buckets(
        _ name: String,
        _ bound: String,
        _ labels: String
    ) -> [(name: String, bad: String, good: String)] {
        [
            (#"\#(name){instance="a",le="\#(bound)"\#(labels)}"#, "0+95x60", "0+100x60"),
            (#"\#(name){instance="a",le="2"\#(labels)}"#, "0+100x60", "0+100x60"),
            (#"\#(name){instance="a",le="+Inf"\#(labels)}"#, "0+100x60", "0+100x60"),
        ]
    }

    private static let file = Readme.repository
        .appendingPathComponent("Sources/tidemark/Monitoring/alerts.yml")

    private static func promtool(_ arguments: [String]) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(URL(fileURLWithPath: "/usr/bin/env"), ["promtool"] + arguments)
    }

    /// The cases as the tool reads them; JSON is YAML.
    private static func tests(_ cases: [Case], _ rules: AlertRules) throws -> Data {
        var tests: [Any] = []
        for each in cases {
            let rule = try #require(rules.rules.first { $0.name == each.alert }, "\(each.alert)")
            let annotations = rule.annotations.mapValues { text in
                text.replacingOccurrences(of: "{{ $labels.instance }}", with: "a")
                    .replacingOccurrences(of: "{{ $value | humanize1024 }}", with: each.value)
            }
            let labels = each.labels.merging(["instance": "a"]) { old, _ in old }
                .merging(rule.labels) { old, _ in old }
            for isBad in [true, false] {
                let expected: [Any] = isBad ? [["exp_labels": labels, "exp_annotations": annotations]] : []
                let series = each.series.map { ["series": $0.name, "values": isBad ? $0.bad : $0.good] }
                tests.append([
                    "interval": "1m", "input_series": series,
                    "alert_rule_test": [
                        ["eval_time": "\(each.minutes)m", "alertname": each.alert, "exp_alerts": expected]
                    ],
                ])
            }
        }
        let file: [String: Any] = [
            "rule_files": [Self.file.path], "evaluation_interval": "1m", "tests": tests,
        ]
        return try JSONSerialization.data(withJSONObject: file, options: .withoutEscapingSlashes)
    }

    @Test
    func `Prometheus accepts the alert rules`() async throws {
        let outcome = try await Self.promtool(["check", "rules", Self.file.path])
        #expect(outcome.exitCode == 0, "Is there no promtool? Scripts/test brings it. \(outcome.errors)")
        #expect(outcome.output.contains("\(Self.cases.count) rules found"), "\(outcome.output)")
    }

    @Test
    func `each alert fires on a bad day, and not on a good one`() async throws {
        let rules = AlertRules(try String(contentsOf: Self.file, encoding: .utf8))
        #expect(Self.cases.map(\.alert).sorted() == rules.rules.map(\.name).sorted())
        let folder = try TemporaryDirectory()
        let path = folder.path + "/tests.yml"
        try Self.tests(Self.cases, rules).write(to: URL(fileURLWithPath: path))
        let outcome = try await Self.promtool(["test", "rules", path])
        #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
    }

    @Test
    func `an alert that fires on a good day is found`() async throws {
        let rules = AlertRules(try String(contentsOf: Self.file, encoding: .utf8))
        let bad = Case(
            alert: "TidemarkDiskFull",
            series: [(#"tidemark_disk_reserve_missing_bytes{instance="a"}"#, "1x30", "1x30")],
            minutes: 10
        )
        let folder = try TemporaryDirectory()
        let path = folder.path + "/tests.yml"
        try Self.tests([bad], rules).write(to: URL(fileURLWithPath: path))
        let outcome = try await Self.promtool(["test", "rules", path])
        #expect(outcome.exitCode != 0 && outcome.errors.contains("TidemarkDiskFull"), "\(outcome.errors)")
    }
}
