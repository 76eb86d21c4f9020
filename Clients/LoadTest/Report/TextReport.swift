/// The report for people that a load test prints at its end.
struct TextReport {
    private static let violationsShown = 20
    private static let stallsShown = 24

    let result: LoadResult

    var text: String {
        var parts = [self.operations]
        if !self.failures.isEmpty { parts.append(self.failures) }
        if let server = self.result.server { parts.append(self.figures(server)) }
        if !self.result.ramp.isEmpty { parts.append(self.ramp) }
        if let overload = self.result.overload { parts.append(self.overload(overload)) }
        if let verdict = self.result.verdict { parts.append(self.verdict(verdict)) }
        let notes = self.notes + self.ownNotes
        if !notes.isEmpty { parts.append(notes) }
        return parts.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private var operations: [String] {
        var table = TextTable([
            "", "answers", "per second", "records/s", "failed", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms",
            "max ms",
        ])
        for (name, figures) in self.result.rows {
            let latencies = figures.latencies
            table.add(
                [
                    name, Digits.count(figures.responsesInTime),
                    Digits.rate(self.result.rate(figures)),
                    Digits.rate(self.result.recordRate(figures)), Digits.count(figures.failureCount),
                ] + latencies.columns
            )
        }
        return table.lines
    }

    private var failures: [String] {
        var table = TextTable(["failed because of", "", "times"])
        for (kind, figures) in self.result.operations {
            for (reason, count) in figures.failures.sorted(by: { $0.value > $1.value }) {
                table.add([reason, kind.rawValue, Digits.count(count)])
            }
        }
        return table.lines.count > 1 ? table.lines : []
    }

    private func figures(_ server: ServerFigures) -> [String] {
        guard server.seconds > 0 else {
            return ["The server wrote no new figures: is its metrics_file_interval_s longer than the run?"]
        }
        let waiting = server.levels["tidemark_requests_waiting"] ?? .init()
        var lines = [
            "server: \(Digits.count(Int(server.commits))) commits with an fsync each "
                + "(\(Digits.rate(server.commits / server.seconds)) per second), "
                + "\(Digits.fixed(server.recordsPerCommit, 1)) records and "
                + "\(Digits.fixed(server.requestsPerCommit, 1)) requests per commit",
            "        writer's queue \(Digits.fixed(waiting.mean, 1)) requests on average, "
                + "\(Digits.count(Int(waiting.max))) at most, of samples a second apart",
        ]
        let notable = [
            (
                "tidemark_requests_replayed_total",
                "requests sent again and answered from the stored result"
            ),
            ("tidemark_requests_refused_total", "requests refused"),
            ("tidemark_notifications_sent_total", "notifications sent"),
            ("tidemark_notifications_coalesced_total", "notifications left out for a later one"),
            ("tidemark_connections_opened_total", "connections opened"),
        ]
        for (name, words) in notable {
            let count = Int(server.increases[name] ?? 0)
            if count > 0 { lines.append("        \(Digits.count(count)) \(words)") }
        }
        return lines
    }

    private var ramp: [String] {
        var table = TextTable(["rate", "answered", "p50 ms", "p99 ms", "failed", ""])
        for step in self.result.ramp {
            table.add([
                Digits.rate(step.rate), Digits.rate(step.answered), Digits.milliseconds(step.p50Milliseconds),
                Digits.milliseconds(step.p99Milliseconds), Digits.count(step.failures),
                step.held ? "held" : "too much",
            ])
        }
        let highest = self.result.highestRate.map {
            "the highest rate that held: \(Digits.rate($0)) per second"
        }
        return table.lines + [highest ?? "no rate held: start with a lower --rate, or allow a higher --p99"]
    }

    private func overload(_ overload: OverloadFigures) -> [String] {
        var table = TextTable([
            "", "rate", "answered", "p50 ms", "p99 ms", "rejected", "reserved", "sent again", "admitted",
        ])
        for step in overload.steps {
            table.add([
                step.part.rawValue, Digits.rate(step.rate), Digits.rate(step.answered),
                Digits.milliseconds(step.p50Milliseconds), Digits.milliseconds(step.p99Milliseconds),
                Digits.count(step.failures), Digits.count(step.reserved), Digits.count(step.retried),
                Digits.count(step.retriesAdmitted),
            ])
        }
        var lines = table.lines
        let ratio = Digits.fixed(overload.p99Ratio, 1)
        lines.append("p99 of admitted requests: \(ratio) times the usual one")
        if let kept = overload.keptShare {
            let percent = Digits.fixed(kept * 100, 2)
            lines.append("of the requests that came at their reserved time, \(percent) % were admitted")
        }
        lines.append(
            "the last rejection was \(Digits.fixed(overload.recoverySeconds, 2)) s after the end of the overload"
        )
        return lines
    }

    private func verdict(_ verdict: Verification.Verdict) -> [String] {
        let doubts =
            verdict.uncertain == 0
            ? ""
            : " (\(Digits.count(verdict.uncertain)) with a write whose effect is unknown: either is right)"
        let compared =
            "\(Digits.count(verdict.records)) records read back by feed, feed since the start and fetch\(doubts)"
        let followed =
            verdict.feedEnds == 0
            ? []
            : [
                "followed: the end of a feed was reached \(Digits.count(verdict.feedEnds)) times during the load"
            ]
        guard !verdict.isGood else {
            return ["verified: \(compared); none lost, duplicated or stale"]
                + followed.map { $0 + "; no change was missing, doubled or out of order" }
        }
        let violations = verdict.violations
        var lines = ["NOT VERIFIED: \(compared); \(Digits.count(violations.count)) are wrong:"]
        lines += violations.first.prefix(Self.violationsShown).map { "  " + $0.line }
        let rest = violations.count - min(violations.count, Self.violationsShown)
        if rest > 0 {
            lines.append("  and \(Digits.count(rest)) more; --json has the first \(Violations.keptMax)")
        }
        return lines
    }

    /// Notes that the page shows in large figures, or above them.
    private var ownNotes: [String] {
        var notes: [String] = []
        if !self.result.chaosSeconds.isEmpty {
            notes.append("chaos: the command ran \(Digits.count(self.result.chaosSeconds.count)) times")
            notes += self.stalls
        }
        if self.result.context.isDebugBuild {
            notes.append("A debug build was measured, which is several times slower than what people run.")
        }
        return notes
    }

    /// The time that connections were without a success after each run of the chaos command.
    private var stalls: [String] {
        let stalls = self.result.stallSeconds
        guard let longest = stalls.max(), longest > 0 else { return [] }
        let each = stalls.count <= Self.stallsShown ? stalls : stalls.sorted(by: >)
        let list = each.prefix(Self.stallsShown).map { $0 == 0 ? "–" : Digits.fixed($0, 1) }
        let which = stalls.count <= Self.stallsShown ? "after each run" : "the longest"
        return [
            "stalls: a connection was without a success for \(Digits.fixed(longest, 1)) s at most; "
                + "\(which), in seconds: \(list.joined(separator: ", "))"
        ]
    }

    /// Further facts that a reader of the figures needs.
    var notes: [String] {
        var notes: [String] = []
        if self.result.isInterrupted {
            notes.append(
                "interrupted after \(Digits.fixed(self.result.measuredSeconds, 1)) s of the measured time; nothing was verified"
            )
        }
        let reserved = self.result.operations.reduce(0) { $0 + $1.figures.reserved }
        if reserved > 0, self.result.overload == nil {
            let retried = self.result.operations.reduce(0) { $0 + $1.figures.retried }
            let admitted = self.result.operations.reduce(0) { $0 + $1.figures.retriesAdmitted }
            notes.append(
                "\(Digits.count(reserved)) rejections had a reservation; \(Digits.count(retried)) requests came at that time, "
                    + "and \(Digits.count(admitted)) of them were admitted"
            )
        }
        if self.result.measurements.unsent > 0 {
            notes.append(
                "\(Digits.count(self.result.measurements.unsent)) requests that were due were never sent: all slots were "
                    + "taken. Their wait is in the latencies. The rate was higher than the server, or --outstanding, allowed."
            )
        }
        if self.result.measurements.replaced > 0 {
            notes.append(
                "\(Digits.count(self.result.measurements.replaced)) requests became fetches, because all records that they could "
                    + "write were being written. More --records leave some to write."
            )
        }
        let lateness = self.result.measurements.lateness.percentile(99)
        if lateness > 5 {
            notes.append(
                "This program itself was \(Digits.milliseconds(lateness)) ms late (p99), which is in the latencies: "
                    + "give it a processor of its own, or several processes."
            )
        }
        return notes
    }
}
