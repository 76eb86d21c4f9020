/// A main result of a run, and its name.
struct LargeFigure {
    enum Mood: String {
        case plain
        case good
        case bad
    }

    let number: String
    let caption: String
    var mood = Mood.plain

    var text: String {
        "<div class=\"\(self.mood.rawValue)\"><strong>\(HTMLText.escaped(self.number))</strong>"
            + "<span>\(HTMLText.escaped(self.caption))</span></div>"
    }
}

extension HTMLReport {
    /// The most important results.
    var figures: [LargeFigure] {
        var figures: [LargeFigure] = []
        if let overload = self.result.overload {
            figures += self.figures(of: overload)
        } else if !self.result.ramp.isEmpty {
            let held = self.result.highestRate
            figures.append(
                LargeFigure(
                    number: held.map { Digits.rate($0) } ?? "none",
                    caption: held == nil ? "no rate held" : "per second: the highest rate that held",
                    mood: held == nil ? .bad : .good
                )
            )
        } else {
            figures += self.answers
        }
        if self.result.overload == nil, let slowest = self.result.slowest {
            let kinds =
                self.result.operations.count > 1
                ? "\(slowest.kind.rawValue), the slowest" : "\(slowest.kind.rawValue)"
            figures.append(
                LargeFigure(
                    number: "\(Digits.milliseconds(slowest.p99Milliseconds)) ms",
                    caption: "p99 of \(kinds)"
                )
            )
        }
        figures.append(self.verification)
        if !self.result.chaosSeconds.isEmpty {
            let count = self.result.chaosSeconds.count
            figures.append(
                LargeFigure(
                    number: Digits.count(count),
                    caption: "times chaos struck (dotted lines)"
                )
            )
            if let longest = self.result.stallSeconds.max(), longest > 0 {
                figures.append(
                    LargeFigure(
                        number: "\(Digits.fixed(longest, 1)) s",
                        caption: "the longest stall of a connection after that"
                    )
                )
            }
        }
        return figures
    }

    private var answers: [LargeFigure] {
        let measurements = self.result.measurements
        let answers = measurements.operations.values.reduce(0) { $0 + $1.responsesInTime }
        let failures = measurements.failureCount
        let rate = Double(answers) / max(self.result.measuredSeconds, 0.001)
        let share = 100 * Double(failures) / Double(max(answers + failures, 1))
        return [
            LargeFigure(number: Digits.count(answers), caption: "answered, \(Digits.rate(rate)) per second"),
            LargeFigure(
                number: Digits.count(failures),
                caption: failures == 0 ? "failed" : "failed, \(Digits.fixed(share, share < 1 ? 2 : 1)) %",
                mood: failures == 0 ? .good : .bad
            ),
        ]
    }

    private func figures(of overload: OverloadFigures) -> [LargeFigure] {
        let step = overload.steps.first { $0.part == .overload }
        var figures = [
            LargeFigure(
                number: "\(Digits.fixed(overload.p99Ratio, 1)) ×",
                caption: "the usual p99, for requests that were admitted in the overload"
            )
        ]
        if let step {
            figures.append(
                LargeFigure(
                    number: Digits.rate(step.answered),
                    caption: "answered per second, of \(Digits.rate(step.rate)) requested"
                )
            )
        }
        if let kept = overload.keptShare {
            figures.append(
                LargeFigure(
                    number: "\(Digits.fixed(kept * 100, 2)) %",
                    caption: "admitted, of the requests that came at their reserved time"
                )
            )
        }
        figures.append(
            LargeFigure(
                number: "\(Digits.fixed(overload.recoverySeconds, 2)) s",
                caption: "from the end of the overload to the last rejection"
            )
        )
        return figures
    }

    private var verification: LargeFigure {
        guard let verdict = self.result.verdict else {
            return LargeFigure(
                number: "–",
                caption: self.result.plan.verifies ? "interrupted: not verified" : "not verified: no --verify"
            )
        }
        return verdict.isGood
            ? LargeFigure(
                number: "✓",
                caption: "verified: \(Digits.count(verdict.records)) records, none lost, duplicated or stale",
                mood: .good
            )
            : LargeFigure(
                number: Digits.count(verdict.violations.count),
                caption: "records differ from what was acknowledged",
                mood: .bad
            )
    }
}
